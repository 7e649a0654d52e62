"""Counts the parcels of recent days and those that are followed again, each time from the start."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Any, Final

from django.db.models import Count, Max, Min, Q, Value
from django.db.models.functions import Coalesce

from carriers import TRACKERS
from carriers.tracking import Status
from parcels.figures.models import DayFigure, ParcelFigure, Timing, TrackingFigure
from parcels.figures.silence import is_silent
from parcels.figures.timing import TIMING, timing_at
from parcels.models import Parcel, TrackingNumber
from parcels.personal_data.retention import removed_before
from parcels.tracking.due import is_asked
from parcels.tracking.events import milliseconds
from shops.db import clock
from shops.staff import figures
from shops.staff.days import bounds, day_of, last_days, next_day

DAYS_SHOWN: Final = 30
SILENT_DAYS: Final = (3, 7, 14)
# An import or a carrier may tell of a hand-in or a delivery as late.
LOOK_BACK: Final = timedelta(days=62)


def recount(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Count the parcels of each day that is shown, and the followed ones; return the number of days."""
    begun_at = clock.now()
    days = last_days(day_of(begun_at), DAYS_SHOWN)
    for day in moved_days(days, figures.counted_at(figures.PARCELS)):
        if is_stopping():
            return 0
        figures.replace(DayFigure.objects.filter(day=day), count_moved(day))
    for day in days:
        if is_stopping():
            return 0
        figures.replace(ParcelFigure.objects.filter(day=day), list(count(day, begun_at)))
    ParcelFigure.objects.exclude(day__range=(days[0], days[-1])).delete()
    figures.replace(TrackingFigure.objects.all(), list(count_followed(begun_at)))
    figures.note(figures.PARCELS, begun_at)
    return len(days)


def moved_days(days: list[date], last: datetime | None) -> list[date]:
    """Return the days of hand-ins and deliveries to count: the first count of a day includes what was reported late.

    They are whole months, as finance has them, but without days of which parcels may be removed by their age.
    """
    today, last_day = days[-1], last and day_of(last)
    first = days[0] if last_day == today else min(last_day or today, (today - LOOK_BACK).replace(day=1))
    if before := removed_before():  # of its day some parcels are gone; a clock that was ahead may have noted any day
        first = min(today, max(first, next_day(day_of(before))))
    return last_days(today, (today - first).days + 1)


def count(day: date, now: datetime) -> Iterator[ParcelFigure]:
    """Count a day's parcels along the index of creation times."""
    start, end = map(milliseconds, bounds(day))
    created = Parcel.objects.live().filter(created_at__gte=start, created_at__lt=end)
    names = {"status": Coalesce("last_status", Value("")), "timing": timing_at(now)}
    for row in created.order_by().values("carrier_code", **names).annotate(parcels=Count("id")):
        yield ParcelFigure(day=day, **row)


def count_moved(day: date) -> list[DayFigure]:
    """Count the parcels handed in and delivered on a day, along the indexes of both times."""
    start, end = map(milliseconds, bounds(day))
    parcels = Parcel.objects.live().order_by().values("shop_id", "carrier_code")
    handed_in = parcels.filter(handed_in_at__gte=start, handed_in_at__lt=end).annotate(handed_in=Count("id"))
    ended = parcels.filter(delivery_date__gte=start, delivery_date__lt=end, last_status=Status.DELIVERED)
    delivered = ended.alias(timing=TIMING).annotate(
        delivered=Count("id"),
        promised=Count("id", filter=~Q(timing="")),
        on_time=Count("id", filter=Q(timing=Timing.ON_TIME)),
    )
    found: defaultdict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for row in chain(handed_in, delivered):
        found[row["shop_id"], row["carrier_code"]] |= row
    return [DayFigure(day=day, **row) for row in found.values()]


def count_parcels(condition: Q | None = None) -> Count:
    return Count("parcel", distinct=True, filter=condition)


def count_followed(now: datetime) -> Iterator[TrackingFigure]:
    """Count the followed parcels by their carrier, and those of them without news."""
    silent = {str(days): count_parcels(is_silent(now - timedelta(days=days))) for days in SILENT_DAYS}
    rows = TrackingNumber.objects.live().followed().order_by().values("parcel__carrier_code")
    due_since = Min("due_at", filter=Q(due_at__lte=now, carrier_code__in=[*filter(is_asked, TRACKERS)]))
    counted = {"followed": count_parcels(), "last_answer_at": Max("checked_at"), "due_since": due_since}
    for row in rows.annotate(**counted, **silent):
        yield TrackingFigure(
            carrier_code=row["parcel__carrier_code"],
            silent={days: row[days] for days in silent},  # type: ignore[misc]  # a JSON value
            **{name: row[name] for name in counted},
        )
