"""The next step of a label, as far as it needs nobody, and its time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from labels.lifecycle import decisions
from labels.models import CANCEL_TIMEOUT, IN_CANCELLATION, OPEN, OVER, UNBILLED, LabelState, ShippingLabel, settle_wait
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.staff.panels import moment


@dataclass(frozen=True)
class NextStep:
    """One label: its future in words, around the time `at` if there is one."""

    label: ShippingLabel
    text: str
    at: datetime | None = None
    suffix: str = ""
    can_be_asked: bool = False
    is_open: bool = True

    @property
    def when(self) -> str:
        return moment(self.at)


def next_steps(labels: Iterable[ShippingLabel]) -> list[NextStep]:
    """Look at several labels, with one query for all their contracts."""
    labels = list(labels)
    shops = {label.shop_id for label in labels}
    contracts = set(CarrierContract.objects.filter(shop__in=shops).values_list("shop", "carrier_code"))
    return [next_step(label, has_contract=(label.shop_id, label.carrier_code) in contracts) for label in labels]


def next_step(label: ShippingLabel, *, has_contract: bool) -> NextStep:
    """Look at one label."""
    carrier, now = label.carrier_code, clock.now()
    if label.state in OVER:
        return afterwards(label)
    if label.state in IN_CANCELLATION and label.is_cancellation_overdue:
        text = gettext("Nothing more: {carrier} could not cancel it within an hour.")
        return NextStep(label, text.format(carrier=carrier))
    if now < label.leased_until:
        text, suffix = gettext("A process works on it, until"), gettext("at the latest.")
        return NextStep(label, text, label.leased_until, suffix, is_open=False)
    if carrier in UNBILLED and label.state in OPEN:
        return unbilled(label, now)
    if decisions.can_be_asked(label) and not has_contract:
        text = gettext("Nothing: the shop has no {carrier} contract any more, so {carrier} can't be asked.")
        return NextStep(label, text.format(carrier=carrier))
    due = label.ask_again_at if label.ask_again_at and label.ask_again_at > now else None
    return question(label, due, gettext("at") if due else gettext("with the next run of the reconciliation"))


def afterwards(label: ShippingLabel) -> NextStep:
    """Tell what is still to be done about a label that is over."""
    if label.ask_again_at is None:
        return NextStep(label, gettext("Nothing more, by itself."), is_open=False)
    if label.state == LabelState.FAILED:
        return NextStep(label, gettext("It is looked for once more at"), label.ask_again_at, is_open=False)
    return NextStep(label, gettext("What was made beyond it is cancelled at"), label.ask_again_at, is_open=False)


def unbilled(label: ShippingLabel, now: datetime) -> NextStep:
    """Tell when a label settles itself, as its carrier bills none that is not used."""
    settles_at = label.created_at + settle_wait()
    if now < settles_at:
        return NextStep(label, gettext("It fails, with its key free, as it costs nothing. That is at"), settles_at)
    return NextStep(label, gettext("Nothing: its PDF is in the storage, so its shop may have it."))


def question(label: ShippingLabel, due: datetime | None, when: str) -> NextStep:
    """Tell what the reconciliation asks about a label when it is due."""
    text, suffix, can_be_asked = gettext("{carrier} is asked {when}"), "", decisions.can_be_asked(label)
    if label.state == LabelState.RECEIVED:
        text, can_be_asked = gettext("Its PDF is merged and stored {when}"), False
    elif not can_be_asked:
        text = gettext("{carrier} can't be asked. Its PDF is looked for in the storage {when}")
    elif label.state in IN_CANCELLATION:
        ends_at = (label.cancel_requested_at or label.created_at) + CANCEL_TIMEOUT
        text = gettext("{carrier} is asked to cancel it {when}")
        suffix = gettext("until {time}").format(time=moment(ends_at))
    text = text.format(carrier=label.carrier_code, when=when)
    return NextStep(label, text, due, suffix, can_be_asked=can_be_asked)
