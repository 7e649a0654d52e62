"""Writes that outlast a restart or a failover of the database, for what was paid for."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

# A database that is away is waited for this long, when what it has to keep was paid for. Patroni replaces a primary
# that was lost when its `ttl` is over, which is 20 s at the least.
DB_RETRY_TIMEOUT_S = 30.0
PAUSE_S = 0.25
DATABASE_ERRORS = (DatabaseError, InterfaceError)
T = TypeVar("T")


def retry_until() -> float:
    """Until when, by the monotonic clock, writes are tried from now on: those of a purchase share one patience."""
    return time.monotonic() + DB_RETRY_TIMEOUT_S


def with_db_retry(write: Callable[[], T], *, until: float | None = None) -> T:
    """Run an idempotent write until it succeeds or `until` (default: DB_RETRY_TIMEOUT_S from now).

    A commit that raised may have been made all the same, so the write is made again rather than believed lost.
    """
    deadline = retry_until() if until is None else until
    while True:
        try:
            return write()
        except DATABASE_ERRORS:
            if time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(PAUSE_S)
