"""The transitions of a label's state, as a table, and the one function that makes them."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache, partial
from typing import Any, Final, assert_never

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from carriers.data import rows_of
from labels import metrics
from labels.lifecycle import events, parcels
from labels.lifecycle.notices import CUSTOMS_FORM_MISSING
from labels.models import IN_CANCELLATION, OPEN, OVER, STORED, LabelState, ShippingLabel
from labels.pdfs import receipts
from shops.db import clock
from shops.db.bulk import PreparedUpdate
from shops.db.prepared import argument, pipelined
from shops.webhooks import outbox

logger = logging.getLogger("labels.purchase")


class Event(StrEnum):
    BOUGHT = auto()
    STORED = auto()
    REFUSED = auto()
    UNANSWERED = auto()
    MADE_IN_PART = auto()
    INTERRUPTED = auto()
    FOUND = auto()
    NOT_FOUND = auto()
    VOIDED = auto()
    SETTLED = auto()
    ANSWERED_LATE = auto()
    ADOPTED = auto()
    MARKED_NOT_MADE = auto()
    CANCEL_ASKED = auto()
    CANCEL_UNANSWERED = auto()
    CANCELLED = auto()
    CANCEL_REFUSED = auto()
    HANDED_IN = auto()
    MARKED_CANCELLED = auto()
    MARKED_KEPT = auto()


class Effect(StrEnum):
    MADE = "made, or an imported one is followed"
    WITHDRAWN = "hidden, unless the carrier has moved it"
    BROUGHT_BACK = "shown again"
    RELEASED = "has the numbers no longer"


@dataclass(frozen=True)
class Transition:
    """A row of the table; `says` is on the label's page and in the runbook."""

    sources: tuple[LabelState, ...]
    target: LabelState
    says: str
    frees_key: bool = False
    is_for_uncancelled: bool = False  # not while parcels that were found without a PDF are being cancelled
    is_for_undecided: bool = False  # not if staff have decided since this process read the row
    effect: Effect | None = None
    webhook: str = ""

    @property
    def ends_purchase(self) -> bool:
        """Return whether the purchase ends with it, as a label, a failure or an open question; the last one counts."""
        return self.sources[0] in {*OPEN, S.RECEIVED} and self.target != S.RECEIVED


S = LabelState
GROUPS: Final = {"OPEN": OPEN, "IN_CANCELLATION": IN_CANCELLATION}


def read() -> Iterator[tuple[Event, Transition]]:
    """Read the table; its sources are states, and groups of them."""
    for row in rows_of("transitions.csv", __file__):
        words = row["sources"].split()
        sources = tuple(state for word in words for state in (GROUPS[word] if word in GROUPS else (S(word),)))
        flags = {name: bool(row[name]) for name in ("frees_key", "is_for_uncancelled", "is_for_undecided")}
        effect = Effect[row["effect"]] if row["effect"] else None
        transition = Transition(sources, S(row["target"]), row["says"], effect=effect, webhook=row["webhook"], **flags)
        yield Event(row["event"]), transition


TRANSITIONS: Final = dict(read())


def said_of(label: ShippingLabel) -> str:
    """Return what the table says of the label's last transition; nothing of one that only began, or of long ago."""
    return gettext(TRANSITIONS[Event(label.last_event)].says) if label.last_event else ""


def move(label: ShippingLabel, event: Event, *guards: Q, **facts: Any) -> bool:
    """Make a transition, with its key, its parcel and its webhook, in one transaction; return whether it was made.

    It is not made if the row is in another state than the table says, or if a guard is false. `facts` are set on the
    label in any case, and on the row if the transition is made. A label that is over is taken up at once if surplus
    parcels are left to cancel. A row that the database lost, in a failover to a standby without it, is written again by
    its own purchase.
    """
    step = TRANSITIONS[event]
    changed = {"state": step.target, "last_event": event.value, **facts}
    if step.frees_key:
        changed["idempotency_key"] = None
    if step.target == S.CANCELLED and label.staff_notice == CUSTOMS_FORM_MISSING:
        changed["staff_notice"] = ""
    if step.target in OVER and label.left_of_surplus:
        changed["ask_again_at"] = changed["leased_until"] = clock.now()
    if step.ends_purchase:
        changed["finished_at"] = clock.upper_bound_now()
    for name, value in changed.items():
        setattr(label, name, value)
    is_one_statement = not (guards or step.effect or step.webhook)
    with nullcontext() if is_one_statement else transaction.atomic():
        is_made = change(label, event, guards, tuple(sorted(changed)))
    if is_made:
        metrics.TRANSITIONS.labels(label.carrier_code, event).inc()
        if step.target != S.RECEIVED:  # whose PDF waits for the storage, as its receipt would
            transaction.on_commit(partial(receipts.try_to_write, label), robust=True)
    return is_made


def change(label: ShippingLabel, event: Event, guards: tuple[Q, ...], names: tuple[str, ...]) -> bool:
    """Write the columns, and do what the table says with the parcel and the webhooks; return whether it was done."""
    step = TRANSITIONS[event]
    if guards and not ShippingLabel.objects.row_of(label).filter(*guards).select_for_update().exists():
        return False
    with pipelined() if step.effect or step.webhook else nullcontext():
        decided_at = connection.ops.adapt_datetimefield_value(label.decided_at)
        own = {"own_id": label.id, "own_shop": label.shop_id, "own_decided_at": decided_at}
        updated = update_for(event, names).start(label, **own)
        take_effect = prepare_effect(label, step.effect)
        endpoints = outbox.ENDPOINTS.start(shop=label.shop_id) if step.webhook else list
    if not updated():
        if ShippingLabel.objects.row_of(label).exists():
            return False
        insert_again(label)
        metrics.VANISHED_ROWS.labels(label.carrier_code).inc()
        facts = facts_to_find_it_by(label, label.tracking_numbers) | {"state": label.state}
        logger.critical("label's row vanished and was written again", extra=facts)
    take_effect()
    if step.webhook:
        events.emit(label, step.webhook, endpoints())
    return True


def facts_to_find_it_by(label: ShippingLabel, numbers: Iterable[str]) -> dict[str, str]:
    """Return the fields of a CRITICAL line; the page that it raises names the carrier and the shop."""
    whose = {"label": label.id, "carrier": label.carrier_code, "shop": label.shop_id}
    return whose | {"tracking_numbers": ",".join(numbers)}


@cache
def update_for(event: Event, names: tuple[str, ...]) -> PreparedUpdate:
    """Return the update of a row that is in one of the event's states."""

    def rows() -> QuerySet[ShippingLabel]:
        own = ShippingLabel.objects.for_shop(argument("own_shop")).filter(id=argument("own_id"))
        step = TRANSITIONS[event]
        own = own.filter(state__in=step.sources)
        if step.is_for_undecided:
            own = own.filter(Q(decided_at=None) | Q(decided_at=argument("own_decided_at")))
        return own.filter(cancel_requested_at=None) if step.is_for_uncancelled else own

    return PreparedUpdate(rows, *names)


def write_back(label: ShippingLabel, *, was_bought: bool) -> None:
    """Write a row that a restored database lost, with its parcel and its webhook, within the caller's transaction.

    `was_bought` says that the database has the label's parcel already.
    """
    insert_again(label)
    is_bought, is_over = label.state in STORED, label.state == S.CANCELLED
    effects = {
        Effect.MADE: is_bought and not was_bought,
        Effect.WITHDRAWN: is_over or label.state in IN_CANCELLATION,
        Effect.RELEASED: is_over,
        Effect.BROUGHT_BACK: was_bought and label.state == S.GENERATED,
    }
    if was_bought and label.cancelled_numbers:
        parcels.release_numbers(label, label.cancelled_numbers, is_kept=label.state == S.GENERATED)
    for effect in (each for each, is_due in effects.items() if is_due):
        prepare_effect(label, effect)()
    event = TRANSITIONS[Event(label.last_event)].webhook if label.last_event else ""
    if event or (label.state == S.GENERATED and not was_bought):
        events.emit(label, event or "label.generated")


def prepare_effect(label: ShippingLabel, effect: Effect | None) -> Callable[[], object]:
    """Read what the effect on the parcel depends on; return the function that carries it out."""
    match effect:
        case None:
            return lambda: None
        case Effect.MADE:
            return parcels.prepare_publication(label)
        case Effect.WITHDRAWN | Effect.BROUGHT_BACK:
            return lambda: parcels.show(label, is_withdrawn=effect == Effect.WITHDRAWN)
        case Effect.RELEASED:
            return lambda: parcels.release_numbers(label, label.tracking_numbers)
        case _:
            assert_never(effect)


def insert_again(label: ShippingLabel) -> None:
    """Write a row that vanished; of two purchases with its key the later one keeps it."""
    if label.idempotency_key is not None:
        same_key = ShippingLabel.objects.for_shop(label.shop_id).filter(idempotency_key=label.idempotency_key)
        same_key.filter(created_at__lt=label.created_at).update(idempotency_key=None)
        if same_key.exists():
            label.idempotency_key = None
    label.save(force_insert=True)
