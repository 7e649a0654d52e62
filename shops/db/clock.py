"""The database's clock: the one that all hosts share, for leases, ages and the order of events."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import functions
from django.utils import timezone

from carriers.http.connections import clock_s
from shops.db.prepared import Read, Row, send

# A reading is followed for as long: by then the clocks' rates make no difference that matters, a failover may.
FOLLOWED_S = 60.0
# A host whose clock differs by more is not to be trusted with other hosts' purchases.
MAX_OFFSET_S = 5.0
# The time as a column of a statement's answer; SQLite's clock is this host's.
COLUMN = {"postgresql": "clock_timestamp()", "sqlite": "NULL"}
# This host's time before the database was asked last, by a clock that nobody sets, and the time that it gave.
latest = -FOLLOWED_S, datetime.min.replace(tzinfo=UTC)
logger = logging.getLogger("service.clock")


def now() -> datetime:
    """Ask the database for the time; SQLite's clock is this host's."""
    if connection.vendor == "sqlite":
        return timezone.now()
    moment: datetime = followed(send, "SELECT clock_timestamp()")[0][0]
    return moment


def followed(start: Callable[..., Read], *arguments: Any) -> list[Row]:
    """Start a statement and return its rows; follow the time that the first of them begins with, if any."""
    global latest  # noqa: PLW0603 - one value, replaced as a whole
    asked_at_s = clock_s()
    rows = start(*arguments)()
    if rows and rows[0][0]:
        latest = max(latest, (asked_at_s, rows[0][0]))
    return rows


def upper_bound_now() -> datetime:
    """Return the database's time without asking again: its latest answer and the time since it was asked.

    The answer took some of that time, so this is never early, and late by less than an answer takes.
    """
    asked_at_s, moment = latest
    elapsed_s = clock_s() - asked_at_s
    return moment + timedelta(seconds=elapsed_s) if 0 <= elapsed_s < FOLLOWED_S else now()


class Now(functions.Now):
    """The same within a statement."""

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        """Give microseconds, as in the columns that it is compared with; SQLite's own function gives milliseconds."""
        return "%s", [connection.ops.adapt_datetimefield_value(timezone.now())]


def host_offset_s() -> float:
    """Return the seconds that this host's clock is ahead of the database's, at the least; negative if it is behind."""
    before_s = time.time()
    database_s = now().timestamp()
    after_s = time.time()
    # The database read its clock at a moment in between.
    return max(before_s - database_s, 0.0) + min(after_s - database_s, 0.0)


def is_host_off() -> bool:
    """Return whether this host's clock is off, and log it."""
    offset_s = host_offset_s()
    is_off = abs(offset_s) > MAX_OFFSET_S
    if is_off:
        logger.error("host's clock is off", extra={"offset_s": round(offset_s, 1)})
    return is_off
