"""The outlook of a label that waits for a decision: its next steps that need nobody, and their times."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from labels.lifecycle import asking
from labels.models import CANCEL_TIMEOUT, LabelState, ShippingLabel, lease
from shops.contracts.models import CarrierContract
from shops.db import clock


@dataclass(frozen=True)
class Outlook:
    """One label to decide: its future in words, around the time `at` if there is one."""

    label: ShippingLabel
    text: str
    at: datetime | None = None
    rest: str = ""
    can_be_asked: bool = False
    is_open: bool = True


def outlooks(labels: Iterable[ShippingLabel]) -> list[Outlook]:
    """Look at several labels, with one query for all their contracts."""
    labels = list(labels)
    shops = {label.shop_id for label in labels}
    contracts = set(CarrierContract.objects.filter(shop__in=shops).values_list("shop", "carrier_code"))
    return [outlook(label, has_contract=(label.shop_id, label.carrier_code) in contracts) for label in labels]


def outlook(label: ShippingLabel, *, has_contract: bool) -> Outlook:
    """Look at one label."""
    carrier, now = label.carrier_code, clock.now()
    if label.state == LabelState.INCOMPLETE:
        return Outlook(label, f"Nothing: {carrier} made some of its parcels and refused another.")
    if label.state == LabelState.CANCELLING and label.is_cancellation_overdue:
        return Outlook(label, f"Nothing more: {carrier} could not cancel it within an hour.")
    if now < label.leased_until <= lease(now):
        return Outlook(label, "A process works on it, until", label.leased_until, "at the latest.", is_open=False)
    if asking.can_be_asked(label) and not has_contract:
        return Outlook(label, f"Nothing: the shop has no {carrier} contract any more, so {carrier} can't be asked.")
    due = label.leased_until if label.leased_until > now else None
    return question(label, due, "at" if due else "with the next run of the reconciliation")


def question(label: ShippingLabel, due: datetime | None, when: str) -> Outlook:
    """Tell what the reconciliation asks about a label when it is due."""
    carrier = label.carrier_code
    if not asking.can_be_asked(label):
        return Outlook(label, f"{carrier} can't be asked. Its PDF is looked for in the storage {when}", due)
    if label.state == LabelState.CANCELLING:
        ends_at = (label.cancel_requested_at or label.created_at) + CANCEL_TIMEOUT
        return Outlook(label, f"{carrier} is asked to cancel it {when}", due, f"until {ends_at:%H:%M} UTC", True)
    return Outlook(label, f"{carrier} is asked {when}", due, can_be_asked=True)
