"""Requests of each shop by day and class of status: counted in the process, flushed to the counter store.

A process that is killed loses the counts of its last seconds, and a store that breaks off the one that it was told of:
it may be there, and nothing is counted twice. Without Redis each process knows its own requests only.
"""

import logging
import os
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import date

from django.core.cache import caches
from redis.exceptions import RedisError

from shops.staff.days import last_days, today

CLASSES = ("2xx", "3xx", "4xx", "429", "5xx")
KEPT_DAYS = 7
KEPT_S = (KEPT_DAYS + 1) * 24 * 3600
PAUSE_S = 5.0
TOO_MANY = 429
STORE_FAILURES = (RedisError, OSError, ValueError)  # the last of an answer that can't be read
logger = logging.getLogger("shops.api.traffic")


class Traffic:
    """The counts that the store does not have yet."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()

    def note(self, shop_id: str, status: int) -> None:
        kind = "429" if status == TOO_MANY else f"{status // 100}xx"
        with self.lock:
            self.counts[shop_id, kind] += 1

    def flush(self) -> None:
        """Add the counts to the store; keep those that it did not confirm for the next time."""
        with self.lock:
            left, self.counts = self.counts, Counter()
        store, day = caches["rate_limit"], today()
        try:
            for shop_id, kind in list(left):
                key = key_of(shop_id, day, kind)
                store.add(key, 0, KEPT_S)
                store.incr(key, left.pop((shop_id, kind)))
        except STORE_FAILURES:
            logger.warning("the counter store did not take the counts of requests", exc_info=True)
            with self.lock:
                self.counts.update(left)

    def last_days(self, shop_id: str) -> list[tuple[date, Mapping[str, int]]] | None:
        """Return the counts by day, the newest first; None while the store does not answer."""
        self.flush()
        days = last_days(today(), KEPT_DAYS)[::-1]
        keys = {day: {key_of(shop_id, day, kind): kind for kind in CLASSES} for day in days}
        try:
            counts = caches["rate_limit"].get_many([key for of_day in keys.values() for key in of_day])
        except STORE_FAILURES:
            return None
        return [(day, {kind: counts[key] for key, kind in keys[day].items() if key in counts}) for day in days]

    def start(self) -> None:
        """Flush in the background for as long as the process serves, and those that are forked from it."""
        os.register_at_fork(after_in_child=self.begin)
        self.begin()

    def begin(self) -> None:
        """Begin with nothing counted; a child can't use its parent's lock and thread."""
        self.counts, self.lock = Counter(), threading.Lock()
        threading.Thread(target=self.run, name="traffic", daemon=True).start()

    def run(self) -> None:
        pause = threading.Event()
        while not pause.wait(PAUSE_S):
            self.flush()


def key_of(shop_id: str, day: date, kind: str) -> str:
    return f"requests:{day:%Y-%m-%d}:{kind}:{shop_id}"


traffic = Traffic()
