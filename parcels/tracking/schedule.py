"""The time at which a number's carrier is asked next."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import random
from typing import Final

from django.conf import settings

from carriers import TRACKERS
from carriers.products import PARIS
from carriers.tracking import Status
from parcels.models import NumberState, TrackingNumber
from parcels.tracking.events import moment
from parcels.tracking.steps import FINAL

Random = Callable[[], float]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
INTERVALS: Final = {
    Status.OUT_FOR_DELIVERY: HOUR / 2,
    Status.IN_TRANSIT: 2 * HOUR,
    Status.WAITING_FOR_PICKUP: 6 * HOUR,
    Status.EXCEPTION: 6 * HOUR,
    Status.RETURN_TO_SENDER: 6 * HOUR,
    Status.DELIVERY_FAILURE: 6 * HOUR,
}
# An announced parcel is asked for often while it may be handed in any hour.
NEW_FOR, NEW_INTERVAL, OLD_INTERVAL = 7 * DAY, 4 * HOUR, DAY
# A parcel that its carrier has delivered may be fetched back.
DELIVERED_FOR, DELIVERED_INTERVAL = 7 * DAY, DAY
# A carrier may know a new parcel only after some hours, and knows a mistyped number never.
UNKNOWN_NEW_FOR, UNKNOWN_NEW_INTERVAL, UNKNOWN_INTERVAL, UNKNOWN_FOR = DAY, HOUR, 6 * HOUR, 15 * DAY
FOLLOWED_FOR = 90 * DAY
# No parcel is delivered at night.
ROUNDS_BEGIN_H, ROUNDS_END_H, ROUNDS_ZONE = 7, 21, PARIS
JITTER = 0.1  # of the interval, to either side
# After a failure the carrier is asked again after this time, then after twice as long, and so on.
FIRST_RETRY, LAST_RETRY = timedelta(minutes=5), 4 * HOUR


def schedule_next_check(number: TrackingNumber, status: str | None, now: datetime) -> None:
    """Set when to ask about a number with this status; never if there is nobody to ask."""
    number.due_at = next_check(number, status, now) if number.carrier_code in TRACKERS else None


def next_check(number: TrackingNumber, status: str | None, now: datetime, random: Random = random) -> datetime | None:
    """Return when to ask again; None if the number is final, too old, or unknown to the carrier for too long.

    A number that was bought surely exists, and may be handed in late. `random` returns a number from 0 to 1, for the
    jitter.
    """
    age = now - moment(number.created_at)
    silent_for = None if number.last_event_at is None else now - moment(number.last_event_at)
    interval: timedelta | None
    if age >= FOLLOWED_FOR:
        return None
    if status in FINAL:
        is_fresh = status == Status.DELIVERED and silent_for is not None and silent_for < DELIVERED_FOR
        interval = DELIVERED_INTERVAL if is_fresh else None
    elif silent_for is None:
        interval = unknown_interval(now - (number.followed_since or now), is_bought=number.state == NumberState.BOUGHT)
    elif status in INTERVALS:
        interval = INTERVALS[Status(status)]
    else:
        interval = NEW_INTERVAL if age < NEW_FOR else OLD_INTERVAL
    if interval is None:
        return None
    wait = with_jitter(interval, random)
    if silent_for is not None and status == Status.OUT_FOR_DELIVERY:
        wait = in_rounds(now + wait, random) - now
    return now + wait / settings.TRACKING_PACE


def unknown_interval(age: timedelta, *, is_bought: bool) -> timedelta | None:
    if age >= UNKNOWN_FOR:
        return OLD_INTERVAL if is_bought else None
    return UNKNOWN_NEW_INTERVAL if age < UNKNOWN_NEW_FOR else UNKNOWN_INTERVAL


def in_rounds(moment: datetime, random: Random) -> datetime:
    """Move a time of the night to the first half hour of the morning."""
    local = moment.astimezone(ROUNDS_ZONE)
    if ROUNDS_BEGIN_H <= local.hour < ROUNDS_END_H:
        return moment
    morning = local.replace(hour=ROUNDS_BEGIN_H, minute=0, second=0, microsecond=0)
    if local.hour >= ROUNDS_END_H:
        morning += DAY
    return morning.astimezone(moment.tzinfo) + INTERVALS[Status.OUT_FOR_DELIVERY] * random()


def next_try(failures: int, now: datetime, random: Random = random) -> datetime:
    """Return when to ask again after so many failures in a row."""
    wait = min(FIRST_RETRY * 2 ** min(failures - 1, 16), LAST_RETRY)
    return now + with_jitter(wait, random) / settings.TRACKING_PACE


def with_jitter(interval: timedelta, random: Random) -> timedelta:
    return interval * (1 - JITTER + 2 * JITTER * random())
