"""Polling, for as long as a busy machine may need."""

import time
from collections.abc import Callable
from typing import TypeVar

WAIT_TIMEOUT_S = 60.0
T = TypeVar("T")


def until(is_so: Callable[[], T], *, timeout_s: float = WAIT_TIMEOUT_S) -> T:
    """Poll until the answer is true; return it."""
    deadline = time.monotonic() + timeout_s
    while not (answer := is_so()):
        assert time.monotonic() < deadline, f"it did not come to that within {timeout_s:g} s"
        time.sleep(0.01)
    return answer
