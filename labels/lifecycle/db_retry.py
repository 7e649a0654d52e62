"""Waits for the database through a restart or a failover: nothing paid for is lost, and no order is refused."""

import logging
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from django.db import connection

from shops.api.errors.coded import IDEMPOTENCY_KEY_IN_PROGRESS
from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import ORDERS_HELD_UP
from shops.contracts.bulkhead import BulkheadFullError, KeyInUseError, bulkhead
from shops.db.failures import DATABASE_ERRORS, is_away, reason

# Patroni replaces a lost primary when its `ttl` is over, which is 20 s at the least.
DB_RETRY_TIMEOUT_S = 30.0
PAUSE_S = 0.25
T = TypeVar("T")
logger = logging.getLogger("labels.purchase")


def retry_deadline() -> float:
    """Return the end of retries that begin now, by the monotonic clock.

    All that an order does before its reservation shares one, and so do all writes of its purchase.
    """
    return time.monotonic() + DB_RETRY_TIMEOUT_S


def with_db_retry(write: Callable[[], T], *, deadline: float | None = None) -> T:
    """Run an idempotent write until it succeeds or the deadline (default: DB_RETRY_TIMEOUT_S from now) has passed.

    A commit that raised may have succeeded, so the write is repeated. A value that the database refuses is not tried
    again.
    """
    ends_at = retry_deadline() if deadline is None else deadline
    while True:
        try:
            return write()
        except DATABASE_ERRORS as error:
            if not is_away(error) or time.monotonic() > ends_at:
                raise
            connection.close()
            time.sleep(PAUSE_S)


def held_up(error: BaseException) -> ApiError:
    """Log why an order can't be taken, and return the refusal; nothing was bought."""
    logger.warning("order held up", extra={"reason": reason(error)})
    return ApiError(ORDERS_HELD_UP)


@dataclass(frozen=True)
class OrderWait:
    """An order's wait for the database before its carrier is asked, in the bulkhead and until a deadline."""

    ends_at: float = field(default_factory=retry_deadline)
    key: Hashable = None  # of one request at a time
    is_test: bool = False

    def run(self, read: Callable[[], T]) -> T:
        """Run what the order reads; while the database is away, wait for it in a place of the bulkhead.

        Raise the database's error when the deadline has passed, and at once where the bulkhead is full; ApiError where
        another request waits with the key.
        """
        try:
            return read()
        except DATABASE_ERRORS as error:
            if not is_away(error):
                raise
            connection.close()
            try:
                with bulkhead.enter(None, key=self.key, is_test=self.is_test):
                    return self.retry(read)
            except KeyInUseError:
                raise ApiError(IDEMPOTENCY_KEY_IN_PROGRESS) from None
            except BulkheadFullError:
                raise error from None

    def retry(self, step: Callable[[], T]) -> T:
        """Repeat a step that failed until the deadline; others wait for the place that it keeps for as long."""
        bulkhead.patient_until = self.ends_at
        return with_db_retry(step, deadline=self.ends_at)
