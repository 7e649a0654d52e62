"""Days as staff and finance count them: those of STAFF_TIME_ZONE, which have 23 or 25 hours when the clock changes."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

from carriers.products import PARIS

# Of the staff's pages, and of the days and months of figures and finance: the staff and their books are French. The
# API's times are UTC.
STAFF_TIME_ZONE: Final = PARIS


def day_of(at: datetime) -> date:
    """Return the day of an instant, which has a time zone of its own."""
    return at.astimezone(STAFF_TIME_ZONE).date()


def today() -> date:
    return day_of(datetime.now(UTC))


def last_days(today: date, count: int) -> list[date]:
    """Return the last days, today among them, the oldest first."""
    return [today - timedelta(days=ago) for ago in reversed(range(count))]


def start_of(day: date) -> datetime:
    """Return the first instant of a day, in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=STAFF_TIME_ZONE).astimezone(UTC)


def next_day(day: date) -> date:
    """Return the day after; the calendar's last day for itself."""
    return min(day, date.max - timedelta(days=1)) + timedelta(days=1)


def bounds(day: date) -> tuple[datetime, datetime]:
    """Return the first instants of a day and of the next, in UTC."""
    return start_of(day), start_of(next_day(day))
