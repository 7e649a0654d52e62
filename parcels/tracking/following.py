"""Decides which parcels are followed, and makes the rows that follow them."""

from datetime import UTC, datetime
from random import random
from typing import Any, Final

from carriers import TRACKERS
from parcels.importing.numbers import own_numbers
from parcels.models import Parcel, ParcelTracking
from parcels.tracking.events import CarrierEvent
from parcels.tracking.schedule import FOLLOWED_FOR, next_check
from parcels.tracking.story import FINAL, STORY_FIELDS, Story, tell
from shops.db.bulk import instance

FINAL_VALUES: Final = frozenset(map(str, FINAL))


def is_to_be_followed(parcel: Parcel, now: datetime) -> bool:
    """Tell if a carrier is asked about a parcel: one that has a tracker, of a parcel that is not final and not old."""
    is_open = parcel.carrier_code in TRACKERS and parcel.last_status not in FINAL_VALUES
    return is_open and now - moment(parcel.created_at) < FOLLOWED_FOR


def new_tracking(parcel: Parcel, now: datetime, **fields: Any) -> ParcelTracking:
    followed = {"parcel_id": parcel.id, "shop_id": parcel.shop_id, "carrier_code": parcel.carrier_code}
    made = instance(ParcelTracking, followed_since=now, **followed, **fields)
    plan(made, parcel, now)
    return made


def plan(tracking: ParcelTracking, parcel: Parcel, now: datetime) -> None:
    """Set the next question to the carrier."""
    tracking.next_check_at = next_check(
        status=parcel.last_status,
        created_at=moment(parcel.created_at),
        followed_since=tracking.followed_since,
        is_known=bool(tracking.carrier_events),
        is_bought=bool(tracking.label_numbers),
        now=now,
        random=random,
    )


def retell(parcel: Parcel, tracking: ParcelTracking) -> list[str]:
    """Tell the story of a parcel from what its tracking row keeps; return the columns that changed.

    Events of a number that the shop has taken off the parcel are kept, and not told.
    """
    numbers = own_numbers(parcel)
    told = tell(
        reported=None if tracking.reported is None else Story(**tracking.reported["story"]),
        events=[event for event in events_of(tracking) if event.number in numbers],
        expected=tracking.expected,
        bought=tracking.label_numbers,
    )
    changed = [name for name in STORY_FIELDS if getattr(parcel, name) != getattr(told, name)]
    for name in changed:
        setattr(parcel, name, getattr(told, name))
    return changed


def events_of(tracking: ParcelTracking) -> list[CarrierEvent]:
    return [CarrierEvent.stored(row) for row in tracking.carrier_events]


def keep_events(tracking: ParcelTracking, events: list[CarrierEvent]) -> None:
    tracking.carrier_events = [event._asdict() for event in without_texts(tracking, events)]
    tracking.last_event_at = max((event.at for event in events), default=None)


def without_texts(tracking: ParcelTracking, events: list[CarrierEvent]) -> list[CarrierEvent]:
    """Leave out the carrier's texts where the customer was erased."""
    return [event._replace(text="", place="") for event in events] if tracking.are_texts_erased else events


def moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)
