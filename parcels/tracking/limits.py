"""The carriers' limits on calls a second, kept by all processes together.

They live in the database, for every installation alike: a process reserves slots there for half a second's calls, in
one short transaction. With Redis there would be a second mechanism beside it, for two transactions a second saved.
"""

import time
from collections import deque
from datetime import timedelta
from threading import Event, Lock
from typing import Final

from cachetools import cached
from django.conf import settings

from shops.db.pacing import reserve

RESERVED_S: Final = 0.5  # of calls, reserved at a time
# A slot that could not be used in time is given up: used later, it would add to the calls of others.
MAX_LATE_S: Final = 0.25


class Slots:
    """Hands the slots of one carrier, or of test shops' sandbox of it, to the threads of this process."""

    def __init__(self, carrier_code: str, *, is_test: bool = False) -> None:
        self._name = f"tracking {carrier_code}{' sandbox' if is_test else ''}"
        self._interval_s = 1 / settings.TRACKING_RATES[carrier_code]
        self._slots: deque[float] = deque()  # by the monotonic clock
        self._lock = Lock()

    def wait(self, stop: Event) -> bool:
        """Wait for the next free slot; return false if `stop` was set first."""
        while not stop.is_set():
            slot = self._next()
            stop.wait(max(0.0, slot - time.monotonic()))
            if not stop.is_set() and time.monotonic() <= slot + MAX_LATE_S:
                return True
        return False

    def _next(self) -> float:
        with self._lock:
            while self._slots and self._slots[0] < time.monotonic() - MAX_LATE_S:
                self._slots.popleft()
            if not self._slots:
                count = max(1, round(RESERVED_S / self._interval_s))
                wait_s = reserve(self._name, count=count, interval=timedelta(seconds=self._interval_s))
                first = time.monotonic() + wait_s  # read after the database's clock, so that no slot is used early
                self._slots.extend(first + number * self._interval_s for number in range(count))
            return self._slots.popleft()


slots = cached({}, lock=Lock())(Slots)
