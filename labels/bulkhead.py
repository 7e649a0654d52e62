"""Slots for label requests in one process: so many may be at work, and as many may wait, so that look-ups go on.

A request that hangs, at a carrier or at the storage, keeps a thread of its server. It takes a slot before anything is
written and gives it back when the label is stored. So label requests never hang in more threads than there are slots,
and all other threads are free for look-ups, whatever hangs.

Requests of a burst wait a moment for a slot while the carrier is prompt. Nobody waits for a carrier that is silent.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from django.conf import settings

from carriers import CARRIERS

# A request waits at most so long for a slot, and gives up once the carrier's slots have not changed hands for so long.
WAIT_TIMEOUT_S = 1.0


class BulkheadFullError(Exception):
    """No slot is free, or (`is_key_at_work`) a purchase with the same key holds one."""

    def __init__(self, *, is_key_at_work: bool) -> None:
        super().__init__()
        self.is_key_at_work = is_key_at_work


class Bulkhead:
    """CARRIER_CONCURRENCY slots for each carrier, so that one that hangs leaves the other its own.

    A request that waits for a slot keeps a thread as well, so no more may wait than there are slots.
    """

    def __init__(self) -> None:
        self._keys: dict[str, list[Hashable]] = defaultdict(list)  # of those at work, by carrier
        self._moved_at: dict[str, float] = defaultdict(float)  # when a carrier's slots last changed hands
        self._waiting = 0
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, carrier_code: str, *, key: Hashable = None) -> Iterator[None]:
        """Hold a slot while the block runs; raise NoSlotError if there is none, after WAIT_TIMEOUT_S at the latest."""
        with self._changed:
            if self._must_wait(carrier_code, key) and self._waiting < settings.CARRIER_CONCURRENCY * len(CARRIERS):
                self._wait(carrier_code, key)
            is_key_at_work = self._is_at_work(key)
            if is_key_at_work or not self._is_free(carrier_code):
                raise BulkheadFullError(is_key_at_work=is_key_at_work)
            self._keys[carrier_code].append(key)
            self._note_move(carrier_code)
        try:
            yield
        finally:
            with self._changed:
                self._keys[carrier_code].remove(key)
                self._note_move(carrier_code)

    @property
    def taken(self) -> int:
        """How many label requests are at work or wait, each in a thread."""
        return sum(map(len, self._keys.values())) + self._waiting

    def _must_wait(self, carrier_code: str, key: Hashable) -> bool:
        return not (self._is_free(carrier_code) or self._is_at_work(key))

    def _is_free(self, carrier_code: str) -> bool:
        return len(self._keys[carrier_code]) < settings.CARRIER_CONCURRENCY

    def _is_at_work(self, key: Hashable) -> bool:
        return key is not None and any(key in keys for keys in self._keys.values())

    def _note_move(self, carrier_code: str) -> None:
        self._moved_at[carrier_code] = time.monotonic()
        self._changed.notify_all()

    def _wait(self, carrier_code: str, key: Hashable) -> None:
        ends_at = time.monotonic() + WAIT_TIMEOUT_S
        self._waiting += 1
        try:
            while self._must_wait(carrier_code, key):
                remaining_s = min(ends_at, self._moved_at[carrier_code] + WAIT_TIMEOUT_S) - time.monotonic()
                if remaining_s <= 0:
                    break
                self._changed.wait(remaining_s)
        finally:
            self._waiting -= 1


bulkhead = Bulkhead()
