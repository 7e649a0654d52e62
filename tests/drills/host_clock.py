"""Sets this process's wall clock off by ``CLOCK_OFF_MINUTES``, once imported; its monotonic clock is not.

It has to be imported before what reads the clock, as that may keep `datetime` under a name of its own.
"""

import datetime as dt
import os
import time
from typing import Any

OFFSET = dt.timedelta(minutes=int(os.environ.get("CLOCK_OFF_MINUTES", "0")))
true_time, true_datetime = time.time, dt.datetime


class AnyDatetime(type):
    """Every datetime is one of the class that stands in for `datetime`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, true_datetime)


class ShiftedDatetime(dt.datetime, metaclass=AnyDatetime):
    """Makes ordinary datetimes; its `now` is off."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return true_datetime(*args, **options)

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        return true_datetime.now(tz) + OFFSET


if OFFSET:
    time.time = lambda: true_time() + OFFSET.total_seconds()
    dt.datetime = ShiftedDatetime  # type: ignore[misc]  # that it is replaced is the point
