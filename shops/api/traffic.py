"""Requests of each shop by day and class of status: counted in the process, flushed to the counter store.

A process that is killed loses the counts of its last seconds, and a store that breaks off those of the shop that it was
told of: they may be there, and nothing is counted twice. Without Redis each process knows its own requests only.
"""

import logging
import os
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django.core.cache import caches
from redis.exceptions import RedisError

from shops.staff.days import today

CLASSES = ("2xx", "3xx", "4xx", "429", "5xx")
KEPT_DAYS = 7
KEPT_S = (KEPT_DAYS + 1) * 24 * 3600
PAUSE_S = 5.0
TOO_MANY = 429
FAILURES = (RedisError, OSError)
logger = logging.getLogger("shops.api.traffic")
Counts = Mapping[str, int]


class ProcessStore:
    """Counts of this process, where no store is shared."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}

    def ping(self) -> None:
        """Answer, as it does."""

    def add_counts(self, key: str, counts: Counts, timeout_s: int) -> None:
        self.counts.setdefault(key, Counter()).update(counts)
        oldest = key_of("", today() - timedelta(days=KEPT_DAYS))
        self.counts = {name: kept for name, kept in self.counts.items() if name >= oldest}

    def read_counts(self, keys: list[str]) -> list[Counts]:
        return [self.counts.get(key, Counter()) for key in keys]


class Traffic:
    """The counts that the store does not have yet."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()
        self.in_process = ProcessStore()

    def note(self, shop_id: str, status: int) -> None:
        """Count an answered request."""
        kind = "429" if status == TOO_MANY else f"{status // 100}xx"
        with self.lock:
            self.counts[shop_id, kind] += 1

    def flush(self) -> None:
        """Add the counts to the store; those that it was not told of are tried again."""
        with self.lock:
            taken, self.counts = self.counts, Counter()
        by_shop: dict[str, dict[str, int]] = {}
        for (shop_id, kind), count in taken.items():
            by_shop.setdefault(shop_id, {})[kind] = count
        day, left = today(), dict(by_shop)
        try:
            if by_shop:
                self.store.ping()
            for shop_id in by_shop:
                self.store.add_counts(key_of(shop_id, day), left.pop(shop_id), KEPT_S)
        except FAILURES:
            logger.warning("the counter store did not take the counts of requests", exc_info=True)
            with self.lock:
                for shop_id, counts in left.items():
                    self.counts.update({(shop_id, kind): count for kind, count in counts.items()})

    def last_days(self, shop_id: str) -> list[tuple[date, Counts]] | None:
        """Return the counts by day, the newest first; None while the store does not answer."""
        self.flush()
        days = [today() - timedelta(days=ago) for ago in range(KEPT_DAYS)]
        try:
            counts = self.store.read_counts([key_of(shop_id, day) for day in days])
        except FAILURES:
            return None
        return list(zip(days, counts, strict=True))

    @property
    def store(self) -> Any:
        """The store of this thread: Redis, or else this process."""
        cache = caches["rate_limit"]
        return cache if hasattr(cache, "add_counts") else self.in_process

    @property
    def is_shared(self) -> bool:
        return self.store is not self.in_process

    def start(self) -> None:
        """Flush in the background for as long as the process serves, and those that are forked from it."""
        os.register_at_fork(after_in_child=self.begin)
        self.begin()

    def begin(self) -> None:
        """Begin with nothing counted; a lock and a thread of the parent's are of no use to a child."""
        self.counts, self.lock = Counter(), threading.Lock()
        threading.Thread(target=self.run, name="traffic", daemon=True).start()

    def run(self) -> None:
        pause = threading.Event()
        while not pause.wait(PAUSE_S):
            self.flush()


def key_of(shop_id: str, day: date) -> str:
    return f"requests:{day:%Y-%m-%d}:{shop_id}"


traffic = Traffic()
