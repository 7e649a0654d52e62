"""Slots for label requests in one process: how many may be at work or wait at a time, so that look-ups go on.

A request that hangs, at a carrier or at the storage, keeps a thread of its server. Its slot is taken before anything
is written and held until the label is stored. So label requests never hang in more threads than there are slots, and
any thread more than that is there for look-ups, whatever hangs.
"""

import threading
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from django.conf import settings

from carriers import CARRIERS


class NoSlotError(Exception):
    """No slot is free; tells whether a purchase with the same key holds one."""

    def __init__(self, *, is_key_at_work: bool) -> None:
        super().__init__()
        self.is_key_at_work = is_key_at_work


class Slots:
    """CARRIER_CONCURRENCY slots for each carrier, so that one that hangs leaves the other its own.

    Whoever waits for a slot keeps a thread as well: in all no more wait and work than there are slots.
    """

    def __init__(self) -> None:
        self._keys: dict[str, list[Hashable]] = defaultdict(list)  # of those at work, by carrier
        self._waiting = 0
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, carrier_code: str, *, key: Hashable = None, wait_s: float = 0.0) -> Iterator[None]:
        """Hold a slot while the block runs; raise NoSlotError if none is free within `wait_s`."""
        with self._changed:
            if not self._has_room() or not (self._is_free(carrier_code) or self._wait(carrier_code, wait_s)):
                raise NoSlotError(is_key_at_work=self._is_at_work(key))
            self._keys[carrier_code].append(key)
        try:
            yield
        finally:
            with self._changed:
                self._keys[carrier_code].remove(key)
                self._changed.notify_all()

    @property
    def taken(self) -> int:
        """How many label requests are at work or wait, each in a thread in which it may hang."""
        return sum(map(len, self._keys.values())) + self._waiting

    def _has_room(self) -> bool:
        return self.taken < settings.CARRIER_CONCURRENCY * len(CARRIERS)

    def _is_free(self, carrier_code: str) -> bool:
        return len(self._keys[carrier_code]) < settings.CARRIER_CONCURRENCY

    def _wait(self, carrier_code: str, wait_s: float) -> bool:
        if not wait_s:
            return False
        self._waiting += 1
        try:
            return self._changed.wait_for(lambda: self._is_free(carrier_code), wait_s)
        finally:
            self._waiting -= 1

    def _is_at_work(self, key: Hashable) -> bool:
        return key is not None and any(key in keys for keys in self._keys.values())


slots = Slots()
