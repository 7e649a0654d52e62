"""The time at which a parcel's carrier is asked next."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.conf import settings

from carriers.tracking import Status
from parcels.tracking.story import FINAL

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
# A carrier may know a new parcel only after some hours, and knows a mistyped number never.
UNKNOWN_NEW_FOR, UNKNOWN_NEW_INTERVAL, UNKNOWN_INTERVAL, UNKNOWN_FOR = DAY, HOUR, 6 * HOUR, 15 * DAY
FOLLOWED_FOR = 90 * DAY
# No parcel is delivered at night.
ROUNDS_BEGIN_H, ROUNDS_END_H, ROUNDS_ZONE = 7, 21, ZoneInfo("Europe/Paris")
JITTER = 0.1  # of the interval, to either side
# After a failure the carrier is asked again after this time, then after twice as long, and so on.
FIRST_RETRY, LAST_RETRY = timedelta(minutes=5), 4 * HOUR


def next_check(  # noqa: PLR0913 - the facts that it depends on, all by name
    *,
    status: str | None,
    created_at: datetime,
    followed_since: datetime,
    is_known: bool,
    is_bought: bool,
    now: datetime,
    random: Callable[[], float],
) -> datetime | None:
    """Return when to ask again; None if the parcel is final, too old, or unknown to the carrier for too long.

    A number that was bought surely exists, and may be handed in late. `random` returns a number from 0 to 1, for the
    jitter.
    """
    if status in FINAL or now - created_at >= FOLLOWED_FOR:
        return None
    if not is_known:
        interval = unknown_interval(now - followed_since, is_bought=is_bought)
    elif status in INTERVALS:
        interval = INTERVALS[Status(status)]
    else:
        interval = NEW_INTERVAL if now - created_at < NEW_FOR else OLD_INTERVAL
    if interval is None:
        return None
    wait = with_jitter(interval, random)
    if is_known and status == Status.OUT_FOR_DELIVERY:
        wait = in_rounds(now + wait, random) - now
    return now + wait / settings.TRACKING_PACE


def unknown_interval(age: timedelta, *, is_bought: bool) -> timedelta | None:
    if age >= UNKNOWN_FOR:
        return OLD_INTERVAL if is_bought else None
    return UNKNOWN_NEW_INTERVAL if age < UNKNOWN_NEW_FOR else UNKNOWN_INTERVAL


def in_rounds(moment: datetime, random: Callable[[], float]) -> datetime:
    """Put off a moment of the night to the first half hour of the morning."""
    local = moment.astimezone(ROUNDS_ZONE)
    if ROUNDS_BEGIN_H <= local.hour < ROUNDS_END_H:
        return moment
    morning = local.replace(hour=ROUNDS_BEGIN_H, minute=0, second=0, microsecond=0)
    if local.hour >= ROUNDS_END_H:
        morning += DAY
    return morning.astimezone(moment.tzinfo) + INTERVALS[Status.OUT_FOR_DELIVERY] * random()


def next_try(*, failures: int, now: datetime, random: Callable[[], float]) -> datetime:
    """Return when to ask again after so many failures in a row."""
    wait = min(FIRST_RETRY * 2 ** min(failures - 1, 16), LAST_RETRY)
    return now + with_jitter(wait, random) / settings.TRACKING_PACE


def with_jitter(interval: timedelta, random: Callable[[], float]) -> timedelta:
    return interval * (1 - JITTER + 2 * JITTER * random())
