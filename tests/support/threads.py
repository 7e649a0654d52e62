"""Threads beside a test's own, each with connections to the database of its own."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from threading import Barrier, Event
from typing import Any, ParamSpec, TypeVar

from django.db import connections

from tests.support.waiting import WAIT_TIMEOUT_S

P = ParamSpec("P")
T = TypeVar("T")
STEP_ASIDE_S = 0.3


class Threads(ThreadPoolExecutor):
    """A pool whose threads close their connections after each piece of work."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(partial(closing, fn), *args, **kwargs)


def closing(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    try:
        return work(*args, **kwargs)
    finally:
        connections.close_all()


def in_threads(count: int, do: Callable[[int], T]) -> list[T]:
    """Run `do` in `count` threads that begin at the same moment; return the results, or raise the first exception."""
    start = Barrier(count, timeout=WAIT_TIMEOUT_S)

    def run(number: int) -> T:
        start.wait()
        return do(number)

    with Threads(count) as pool:
        return list(pool.map(run, range(count)))


@contextmanager
def repeated(act: Callable[[], object], pause_s: float = 0.0) -> Iterator[None]:
    """Do something again and again while the block runs, each time after a pause."""
    is_over = Event()

    def repeat() -> None:
        while not is_over.wait(pause_s):
            act()

    with Threads(1) as pool:
        repeating = pool.submit(repeat)
        try:
            yield
        finally:
            is_over.set()
        repeating.result()


class Elsewhere:
    """Something done in another process, which is waited for a moment and joined later."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act, self.pool = act, Threads(1)
        self.done: Future[object] | None = None

    def begin(self) -> None:
        self.done = self.pool.submit(self.act)
        wait([self.done], STEP_ASIDE_S)

    def join(self) -> None:
        if self.done:
            self.done.result(WAIT_TIMEOUT_S)
