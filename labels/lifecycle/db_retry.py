"""Retries writes through a restart or a failover of the database, so that nothing paid for is lost."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, ProgrammingError, connection

# Patroni replaces a lost primary when its `ttl` is over, which is 20 s at the least.
DB_RETRY_TIMEOUT_S = 30.0
PAUSE_S = 0.25
DATABASE_ERRORS = (DatabaseError, InterfaceError)
# What the statement itself is wrong about: the same one fails again.
PERMANENT_ERRORS = (DataError, IntegrityError, ProgrammingError)
T = TypeVar("T")


def retry_deadline() -> float:
    """Return the end of retries that begin now, by the monotonic clock; all writes of a purchase share one."""
    return time.monotonic() + DB_RETRY_TIMEOUT_S


def with_db_retry(write: Callable[[], T], *, deadline: float | None = None) -> T:
    """Run an idempotent write until it succeeds or the deadline (default: DB_RETRY_TIMEOUT_S from now) has passed.

    A commit that raised may have been made all the same, so the write is repeated rather than believed lost. A value
    that the database refuses is not tried again.
    """
    ends_at = retry_deadline() if deadline is None else deadline
    while True:
        try:
            return write()
        except PERMANENT_ERRORS:
            raise
        except DATABASE_ERRORS:
            if time.monotonic() > ends_at:
                raise
            connection.close()
            time.sleep(PAUSE_S)
