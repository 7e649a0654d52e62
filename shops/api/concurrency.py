"""A cap on what a process does at the same time."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock


class ConcurrencyLimit:
    """Has `share` places for each owner; raises what `refusal` makes, at once, for an owner who has none left."""

    def __init__(self, share: int, refusal: Callable[[], Exception]) -> None:
        self.share = share
        self.refusal = refusal
        self.taken: Counter[Hashable] = Counter()
        self._lock = Lock()

    def has_place(self, owner: Hashable) -> bool:
        return self.taken[owner] < self.share

    @contextmanager
    def hold(self, owner: Hashable = None) -> Iterator[None]:
        with self._lock:
            if not self.has_place(owner):
                raise self.refusal()
            self.taken[owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self.taken -= Counter([owner])  # without those that have none left
