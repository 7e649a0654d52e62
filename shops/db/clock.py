"""The database's clock: the one that all hosts share, for leases, ages and the order of events."""

import logging
import time
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import functions
from django.utils import timezone

# A host whose clock differs by more is not to be trusted with other hosts' purchases.
MAX_OFFSET_S = 5.0
logger = logging.getLogger("service.clock")


def now() -> datetime:
    """Ask the database for the time; SQLite's clock is this host's."""
    if connection.vendor == "sqlite":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


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
    """Tell, and log, if this host's clock is off."""
    offset_s = host_offset_s()
    is_off = abs(offset_s) > MAX_OFFSET_S
    if is_off:
        logger.error("host's clock is off", extra={"offset_s": round(offset_s, 1)})
    return is_off
