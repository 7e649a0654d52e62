"""Requests in another thread, and functions during which something happens, or which a gate holds up."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Self

import pytest

from tests.labels.orders import post
from tests.support.api import Caller, Response
from tests.support.threads import Threads

DEADLINE_S = 60


@contextmanager
def elsewhere(caller: Caller, body: Any, key: str) -> Iterator[Future[Response]]:
    """Order a label in another thread."""
    with Threads(1) as pool:
        yield pool.submit(post, caller, body, key=key)


def during(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    *,
    before: Callable[..., object] = lambda *_, **__: None,
    after: Callable[[Any], object] = lambda _: None,
) -> None:
    """Do something when a function is called next: before it, with its arguments, or after it, with its result."""
    inner = getattr(owner, name)

    def calling(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(owner, name, inner)
        before(*args, **kwargs)
        result = inner(*args, **kwargs)
        after(result)
        return result

    monkeypatch.setattr(owner, name, calling)


class Gate:
    """Holds a function up where it is reached, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        inner = getattr(owner, name)

        def held_up(*args: Any) -> Any:
            self.reached.set()
            assert self.open.wait(DEADLINE_S)
            return inner(*args)

        monkeypatch.setattr(owner, name, held_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.open.set()
