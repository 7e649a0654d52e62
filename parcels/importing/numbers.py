"""The rows of the numbers that parcels are found by, and the locks that keep a label's number on one parcel."""

from collections.abc import Iterable
from datetime import timedelta
from operator import itemgetter
from typing import Any, Final

from django.db import transaction

from carriers import TRACKERS
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.tracking.events import CarrierEvent, union
from parcels.tracking.timeline import events_of, locked, recompute
from shops.db import clock
from shops.db.bulk import instance
from shops.db.locks import lock

# beta gives a number out again after some 13 months: an older parcel with it is another one.
GIVEN_OUT_AGAIN: Final = timedelta(days=390)
GIVEN_OUT_AGAIN_MS: Final = GIVEN_OUT_AGAIN // timedelta(milliseconds=1)


def new_number(parcel: Parcel, number: str, **fields: Any) -> TrackingNumber:
    facts = {"shop_id": parcel.shop_id, "parcel_id": parcel.id, "created_at": parcel.created_at, "number": number}
    carrier_code = parcel.carrier_code if parcel.carrier_code in TRACKERS else ""
    return instance(TrackingNumber, **{"carrier_code": carrier_code, **facts, **fields})


def newest(parcels: Iterable[Parcel]) -> Parcel:
    return max(parcels, key=lambda each: (each.created_at, each.id))


def are_of_one_time(one_at: int, other_at: int) -> bool:
    """Return whether a number is the same parcel's at both times (ms): it was not given out again in between."""
    return abs(one_at - other_at) < GIVEN_OUT_AGAIN_MS


def are_shared(number: TrackingNumber, other: TrackingNumber) -> bool:
    """Return whether this new row has the events of a label's number, or of one that left its parcel."""
    is_its_carriers = other.state != NumberState.REPORTED or other.carrier_code == number.carrier_code
    return is_its_carriers and are_of_one_time(number.created_at, other.created_at)


def state_beside(number: TrackingNumber) -> NumberState:
    """Return the state that a label's number has on a further parcel that names it."""
    return NumberState.CANCELLED if number.state == NumberState.CANCELLED else NumberState.REPORTED


def save_events(number: TrackingNumber, events: list[CarrierEvent], *, are_texts_erased: bool) -> None:
    """Keep these events with a number, without their texts where the customer was erased."""
    number.events = [event.as_stored() for event in without_texts(events, are_texts_erased=are_texts_erased)]
    number.last_event_at = max((event.at for event in events), default=None)


def without_texts(events: list[CarrierEvent], *, are_texts_erased: bool) -> list[CarrierEvent]:
    return [event._replace(text="", place="") for event in events] if are_texts_erased else events


def absorb(number: TrackingNumber, other: TrackingNumber, *, are_texts_erased: bool = False) -> None:
    """Add the events of a parcel's own row to a label's number that moves to the parcel."""
    save_events(number, union(events_of((number, other))), are_texts_erased=are_texts_erased)
    number.expected = max(filter(None, (number.expected, other.expected)), key=itemgetter("askedAt"), default=None)


@transaction.atomic
def let_go(parcel_id: str, number: str) -> bool:
    """Take a number off a parcel that has another one, until an import names it again; return False if it can't."""
    list(locked([parcel_id]))
    rows = TrackingNumber.objects.filter(parcel=parcel_id)
    if not rows.exclude(number=number).exists() or not rows.filter(number=number).delete()[0]:
        return False
    recompute([parcel_id], clock.now())
    return True


def lock_shop(shop_id: str) -> None:
    """Keep labels of the shop from becoming parcels, and its imports from ending, until the transaction ends.

    A label and an import that bring one number at the same time don't see each other's rows; with the lock the later
    one does. Its holder waits for no parcel: an import has locked its parcels before it comes here.
    """
    lock(f"numbers of {shop_id}")


def lock_imports(shop_id: str) -> None:
    """Keep imports of the shop from writing until the transaction ends: each locks parcels, batch by batch."""
    lock(f"imports of {shop_id}")


def try_to_lock_imports(shop_id: str) -> bool:
    """Do as `lock_imports` unless somebody holds the lock; return whether it is held now."""
    read = lock(f"imports of {shop_id}", "pg_try_advisory_xact_lock")
    return read is None or bool(read()[0][0])
