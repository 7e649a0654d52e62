"""The time for which a parcel waits at a post office: 10 working days."""

from datetime import datetime, timedelta
from typing import Final

from anyascii import anyascii

from carriers.products import PARIS
from carriers.tracking import Status

AT_POST_OFFICE: Final = "AARBPR"
POST_OFFICE: Final = "bureau de poste"
WORKING_DAYS: Final = 10
SATURDAY: Final = 5
DAY: Final = timedelta(days=1)


def kept_until(code: str, status: Status | None, text: str, arrived_at: datetime) -> datetime | None:
    """Return when a parcel at a post office goes back; None elsewhere, as the days of other points are unknown."""
    if status is not Status.WAITING_FOR_PICKUP:
        return None
    is_at_post_office = code == AT_POST_OFFICE or POST_OFFICE in anyascii(text).lower()
    return after_working_days(arrived_at, WORKING_DAYS) if is_at_post_office else None


def after_working_days(moment: datetime, days: int) -> datetime:
    """Add working days, Monday to Saturday, at the same local time in Paris; public holidays are not known."""
    local = moment.astimezone(PARIS)
    while days:
        local += DAY
        days -= local.weekday() <= SATURDAY
    return local.astimezone(moment.tzinfo)
