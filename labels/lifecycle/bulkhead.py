"""Caps concurrent label requests in one process, so that look-ups go on whatever hangs.

A request that hangs, at a carrier or at the storage, keeps a thread of its server. It enters its carrier's bulkhead
before anything is written, and leaves it when the label is stored. So label requests never hang in more threads than
the bulkhead admits, and all other threads are free for look-ups.

A burst waits a moment to enter while the carrier is prompt. Nobody waits for a carrier that is silent.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from django.conf import settings

from carriers import CARRIERS

# The longest wait to enter; it ends earlier once nobody has entered or left the carrier's bulkhead for as long.
WAIT_TIMEOUT_S = 1.0


class BulkheadFullError(Exception):
    """The carrier has as many requests under way as are admitted."""


class KeyInUseError(Exception):
    """A purchase with the same key is under way."""


class Bulkhead:
    """Admits CARRIER_CONCURRENCY requests for each carrier, so that one that hangs leaves the other its own.

    A request that waits keeps a thread as well, so no more may wait than may be under way.
    """

    def __init__(self) -> None:
        self._keys: dict[str, list[Hashable]] = defaultdict(list)  # of the requests under way, by carrier
        self._changed_at: dict[str, float] = defaultdict(float)  # when a request last entered or left, by carrier
        self._waiting = 0
        self._changed = threading.Condition()

    @contextmanager
    def enter(self, carrier_code: str, *, key: Hashable = None) -> Iterator[None]:
        """Admit the block, after WAIT_TIMEOUT_S at the latest; raise KeyInUseError or BulkheadFullError."""
        with self._changed:
            if self._must_wait(carrier_code, key) and self._waiting < settings.CARRIER_CONCURRENCY * len(CARRIERS):
                self._wait(carrier_code, key)
            if self._is_in_use(key):
                raise KeyInUseError
            if self._is_full(carrier_code):
                raise BulkheadFullError
            self._keys[carrier_code].append(key)
            self._note_change(carrier_code)
        try:
            yield
        finally:
            with self._changed:
                self._keys[carrier_code].remove(key)
                self._note_change(carrier_code)

    @property
    def taken(self) -> int:
        """The number of label requests that are under way or wait, each in a thread."""
        return sum(map(len, self._keys.values())) + self._waiting

    def _must_wait(self, carrier_code: str, key: Hashable) -> bool:
        return self._is_full(carrier_code) and not self._is_in_use(key)

    def _is_full(self, carrier_code: str) -> bool:
        return len(self._keys[carrier_code]) >= settings.CARRIER_CONCURRENCY

    def _is_in_use(self, key: Hashable) -> bool:
        return key is not None and any(key in keys for keys in self._keys.values())

    def _note_change(self, carrier_code: str) -> None:
        self._changed_at[carrier_code] = time.monotonic()
        self._changed.notify_all()

    def _wait(self, carrier_code: str, key: Hashable) -> None:
        ends_at = time.monotonic() + WAIT_TIMEOUT_S
        self._waiting += 1
        try:
            while self._must_wait(carrier_code, key):
                remaining_s = min(ends_at, self._changed_at[carrier_code] + WAIT_TIMEOUT_S) - time.monotonic()
                if remaining_s <= 0:
                    break
                self._changed.wait(remaining_s)
        finally:
            self._waiting -= 1


bulkhead = Bulkhead()
