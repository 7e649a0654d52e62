"""The end of a request at its point: its process is killed or frozen, or the database loses its row."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from labels.models import ShippingLabel

# The first requests at a point wait this long for the others of their batch; a process's first ones take seconds.
BATCH_TIMEOUT_S = 10.0


@dataclass
class Interruption:
    """A request's point, what happens there, and the request's progress."""

    point: str
    batch: int = 1
    happens: str = "kill"
    key: str = ""  # its Idempotency-Key
    stage: str = ""
    purchases: int = 0
    sends: int = 0


current: ContextVar[Interruption | None] = ContextVar("current", default=None)
arrivals: list[float] = []
lock = threading.Lock()


def interruption() -> Interruption:
    return current.get() or Interruption("")


def read(environ: dict[str, Any]) -> Interruption:
    """Read a request's headers, such as ``X-Drill-Kill: POINT*BATCH``."""
    for happens in HAPPENINGS:
        if value := environ.get(f"HTTP_X_DRILL_{happens.upper()}"):
            point, _, batch = value.partition("*")
            return Interruption(point, int(batch or 1), happens, environ.get("HTTP_IDEMPOTENCY_KEY", ""))
    return Interruption("")


def reach(point: str) -> None:
    """Interrupt the request if this is its point, once the others of its batch are there, too."""
    own = interruption()
    if not point or own.point != point:
        return
    own.point = ""
    with lock:
        arrivals.append(time.monotonic())
        is_last = len(arrivals) == own.batch
    while len(arrivals) < own.batch and time.monotonic() < arrivals[0] + BATCH_TIMEOUT_S:
        time.sleep(0.005)
    HAPPENINGS[own.happens](own, is_last)


def kill(_: Interruption, __: bool) -> None:
    if "DRILL_KILLS_GROUP" in os.environ:  # the server's master process with its workers
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def freeze(_: Interruption, is_last: bool) -> None:
    """Stop the whole process once; it goes on from here when the drill lets it."""
    if is_last:
        os.kill(os.getpid(), signal.SIGSTOP)


def lose(own: Interruption, _: bool) -> None:
    """Delete the row, as a failover to a standby that never got it."""
    ShippingLabel.objects.filter(idempotency_key=own.key).delete()


HAPPENINGS: dict[str, Callable[[Interruption, bool], None]] = {"kill": kill, "freeze": freeze, "lose": lose}
