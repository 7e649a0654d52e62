"""Polling, for as long as a busy machine may need."""

import time
from collections.abc import Callable
from typing import TypeVar

WAIT_TIMEOUT_S = 60.0
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.01, 0.2
T = TypeVar("T")


def until(is_so: Callable[[], T], *, timeout_s: float = WAIT_TIMEOUT_S) -> T:
    """Poll until the answer is true; return it. What takes long is asked rarely: questions cost what they wait for."""
    started_s = time.monotonic()
    while not (answer := is_so()):
        waited_s = time.monotonic() - started_s
        assert waited_s < timeout_s, f"it did not come to that within {timeout_s:g} s"
        time.sleep(min(max(waited_s / 10, SHORTEST_PAUSE_S), LONGEST_PAUSE_S))
    return answer
