"""Threads beside a test's own, each with connections to the database of its own."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """A pool whose threads close their connections after each piece of work."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(partial(closing, fn), *args, **kwargs)


def closing(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    try:
        return work(*args, **kwargs)
    finally:
        connections.close_all()
