"""Leases of labels: which process works on one, and what only that process may write."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.http.connections import Deadline
from labels.lifecycle import parcels
from labels.lifecycle.db_retry import with_db_retry
from labels.lifecycle.outcomes import set_error
from labels.lifecycle.states import Event, move
from labels.models import IN_CANCELLATION, LabelState, ShippingLabel, lease
from shops.db import clock

# The pause before a label that is not over is taken up again.
ASK_AGAIN_AFTER = timedelta(minutes=5)
# Labels of a shop that are taken up before those of the next shop: each may be a slow call to the carrier.
TURN = 5


def due() -> QuerySet[ShippingLabel]:
    """Return a query for the labels that the reconciliation takes up now."""
    return ShippingLabel.objects.interrupted() | ShippingLabel.objects.to_ask_again()


def due_in_turn() -> Iterator[str]:
    """Yield what is due, a few labels of each shop in turn, the oldest first: no shop waits for another's backlog.

    It ends when nothing is due but what it has yielded in the minutes before.
    """
    interrupted = ShippingLabel.objects.interrupted().order_by("leased_until")
    failed = ShippingLabel.objects.to_ask_again().order_by("ask_again_at")
    yielded_s: dict[str, float] = {}
    while True:
        since_s = monotonic() - ASK_AGAIN_AFTER.total_seconds()
        found: dict[str, list[str]] = defaultdict(list)
        for shop_id, label_id in [*interrupted.values_list("shop", "id"), *failed.values_list("shop", "id")]:
            if yielded_s.get(label_id, since_s) <= since_s and len(found[shop_id]) < TURN:
                found[shop_id].append(label_id)
        turn = [label_id for of_shop in found.values() for label_id in of_shop]
        if not turn:
            return
        for label_id in turn:
            yielded_s[label_id] = monotonic()
            yield label_id


@transaction.atomic
def claim_due(label_id: str) -> ShippingLabel | None:
    """Lease a label if it is due; None too while an import or an erasure holds what it needs, maybe for minutes."""
    free = due().filter(id=label_id).select_for_update(of=("self",), skip_locked=True).defer("pdf").first()
    return None if free is None or parcels.are_held(free) else claim(label_id, due())


def claim(label_id: str, rows: QuerySet[ShippingLabel]) -> ShippingLabel | None:
    """Lease a label if it is among the rows; None if it is not, or another process was faster.

    The returned label has the `ask_again_at` of before: None if a process was interrupted while it worked on it.
    """
    label = rows.filter(id=label_id).first()
    if label is None:
        return None
    until = lease()
    facts: dict[str, Any] = {"leased_until": until}
    if label.state in IN_CANCELLATION:
        facts["ask_again_at"] = None
    taken = rows.filter(id=label_id, state=label.state, leased_until=label.leased_until).update(**facts)
    label.leased_until = until
    return label if taken else None


def back_off(label: ShippingLabel, until: datetime | None = None) -> None:
    """Take the label up again later; until then a person may decide about it.

    Nothing is done if this process has lost the lease.
    """
    again_at = until or clock.now() + ASK_AGAIN_AFTER
    if label.state == LabelState.PURCHASING:
        error = OutcomeUnknown(label.carrier_code, "the purchase was interrupted")
        fail_own(label, Event.INTERRUPTED, error, ask_again_at=again_at)
    else:
        schedule(label, again_at)


def begin_call(label: ShippingLabel) -> Deadline:
    """Begin the deadline of a call about the label, and renew a lease that might end before it.

    Raise CarrierUnavailable if this process has lost the lease, or the label was settled meanwhile. The deadline begins
    before the check, so a process that is suspended after it finds its time over, and sends nothing.
    """
    deadline = Deadline(settings.CARRIER_TIMEOUT)
    needed = timedelta(seconds=settings.CARRIER_TIMEOUT + settings.LEASE_MARGIN_S / 2)
    if clock.upper_bound_now() + needed > label.leased_until:
        until = lease()
        if not own(label).update(leased_until=until):
            raise CarrierUnavailable(label.carrier_code, "the service was too slow to ask it")
        label.leased_until = until
    return deadline


def own(label: ShippingLabel) -> QuerySet[ShippingLabel]:
    """Return a query for the label's row, if this process still has its lease."""
    rows = ShippingLabel.objects.row_of(label)
    return rows.filter(state=label.state, leased_until=label.leased_until)


def schedule(label: ShippingLabel, again_at: datetime | None, **facts: Any) -> None:
    """End the lease, and set when the label is taken up again, if this process still has it."""
    own(label).update(leased_until=clock.now(), ask_again_at=again_at, **facts)


def fail_own(label: ShippingLabel, event: Event, error: CarrierError, **facts: Any) -> None:
    """Record that there is no label, after the client's request is over, if this process still has the lease.

    While it was suspended, others may have settled, decided or claimed the purchase. If the customer was erased
    meanwhile, the label is taken up again after the lease: the receipt would be written from what this process has
    read.
    """
    before = label.state
    is_as_read = Q(leased_until=label.leased_until, addresses_removed_at=label.addresses_removed_at)
    facts |= set_error(label, error) | {"leased_until": clock.now()}
    if not with_db_retry(lambda: move(label, event, is_as_read, **facts)):
        label.state = before
