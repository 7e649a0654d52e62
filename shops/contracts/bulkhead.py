"""Caps concurrent requests to each service of a carrier in one process, so that look-ups go on whatever hangs.

A request that hangs, at a carrier or at the storage, keeps a thread of its server. It enters a bulkhead before
anything is written, and leaves it when all is done; for an order that is when the label is stored. So such requests
never hang in more threads than the bulkheads admit, and all other threads are free for look-ups.

A burst waits a moment to enter while the carrier is prompt. Nobody waits for a carrier that is silent. While the
database is away, those under way wait for it, and those who wait to enter for them.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.conf import settings
from django.utils.text import capfirst
from django.utils.translation import gettext

from carriers import CARRIERS
from carriers.client import Service

# The longest wait to enter; it ends earlier once nobody has entered or left the bulkhead for as long.
WAIT_TIMEOUT_S = 1.0


class Place(NamedTuple):
    """A carrier and one of its services, or of the test shops' sandbox in its place: each has a bulkhead."""

    carrier_code: str
    service: Service
    is_test: bool = False


class NotAskedError(Exception):
    """A carrier is not asked; `str()` says why, as a part of a sentence for staff."""

    @property
    def sentence(self) -> str:
        """The reason as a sentence of its own."""
        return f"{capfirst(str(self))}."


class BulkheadFullError(NotAskedError):
    """The carrier's service has as many requests under way as are admitted."""


class KeyInUseError(Exception):
    """A purchase with the same key is under way."""


def size(service: Service, *, is_test: bool = False) -> int:
    """Return how many requests a service admits: CARRIER_CONCURRENCY orders, half for others and for a sandbox."""
    orders: int = settings.CARRIER_CONCURRENCY // (2 if is_test else 1)
    return max(1, orders if service is Service.SHIPPING else orders // 2)


class Bulkhead:
    """Admits requests for each service of each carrier: one that hangs leaves the others their own.

    A request that waits keeps a thread as well, so no more may wait for a service than may be under way.
    """

    def __init__(self) -> None:
        self._keys: dict[Place, list[Hashable]] = defaultdict(list)  # of the requests under way
        self._changed_at: dict[Place, float] = defaultdict(float)  # when a request last entered or left
        self._waiting: Counter[tuple[Service, bool]] = Counter()
        self._changed = threading.Condition()
        self.patient_until = 0.0  # monotonic; the end of the latest wait for the database

    @contextmanager
    def enter(
        self,
        carrier_code: str | None,
        service: Service = Service.SHIPPING,
        *,
        key: Hashable = None,
        is_test: bool = False,
    ) -> Iterator[None]:
        """Admit the block; raise KeyInUseError or, after WAIT_TIMEOUT_S or `patient_until`, BulkheadFullError.

        If the carrier is not known yet, the block takes a place of the one with most places left, and never waits.
        """
        with self._changed:
            places = [Place(code, service, is_test) for code in ([carrier_code] if carrier_code else CARRIERS)]
            place = min(places, key=lambda each: len(self._keys[each]))
            may_wait = size(service, is_test=is_test) * len(CARRIERS) if carrier_code else 0
            if self._must_wait(place, key) and self._waiting[service, is_test] < may_wait:
                self._wait(place, key)
            if self._is_in_use(key):
                raise KeyInUseError
            if self._is_full(place):
                text = gettext("too many requests wait for {carrier} now")
                raise BulkheadFullError(text.format(carrier=carrier_code))
            self._keys[place].append(key)
            self._note_change(place)
        try:
            yield
        finally:
            with self._changed:
                self._keys[place].remove(key)
                self._note_change(place)

    @property
    def is_patient(self) -> bool:
        """Return whether an order waits for the database, or has just now."""
        return time.monotonic() < self.patient_until

    @property
    def waiting(self) -> int:
        """The number of requests that wait to enter, each in a thread."""
        return self._waiting.total()

    @property
    def taken(self) -> int:
        """The number of requests that are under way or wait, each in a thread."""
        return sum(map(len, self._keys.values())) + self.waiting

    def _must_wait(self, place: Place, key: Hashable) -> bool:
        return self._is_full(place) and not self._is_in_use(key)

    def _is_full(self, place: Place) -> bool:
        return len(self._keys[place]) >= size(place.service, is_test=place.is_test)

    def _is_in_use(self, key: Hashable) -> bool:
        return key is not None and any(key in keys for keys in self._keys.values())

    def _note_change(self, place: Place) -> None:
        self._changed_at[place] = time.monotonic()
        self._changed.notify_all()

    def _wait(self, place: Place, key: Hashable) -> None:
        ends_at = time.monotonic() + WAIT_TIMEOUT_S
        self._waiting[place.service, place.is_test] += 1
        try:
            while self._must_wait(place, key):
                stalls_at = min(ends_at, self._changed_at[place] + WAIT_TIMEOUT_S)
                remaining_s = max(stalls_at, self.patient_until) - time.monotonic()
                if remaining_s <= 0:
                    break
                self._changed.wait(remaining_s)
        finally:
            self._waiting[place.service, place.is_test] -= 1


bulkhead = Bulkhead()
