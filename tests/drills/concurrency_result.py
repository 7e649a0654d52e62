"""Requests in the same instant, and the outcome of one scenario of the concurrency drill."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

from tests.drills.audit import CANCELLED, FAILED, GENERATED, AuditResult
from tests.support.http import Answer

Keys = dict[str, list[Answer]]
Act = Callable[[int], Answer]  # at a port


@dataclass
class Result:
    """Clients' answers, and the audit of their keys."""

    outcomes: Counter[str]
    slowest_s: float
    audit: AuditResult
    faults: list[str]


def at_once(acts: Sequence[Act], ports: list[int]) -> list[Answer]:
    """Send all requests in the same instant, to the processes in turn."""
    barrier = Barrier(len(acts))

    def send(number: int) -> Answer:
        barrier.wait()
        return acts[number](ports[number % len(ports)])

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(send, range(len(acts))))


FACTS: dict[str, Callable[[Result], object]] = {
    "keys": lambda result: result.audit.keys,
    "keys bought": lambda result: result.audit.bought,
    "bought twice": lambda result: result.audit.bought_twice,
    "bought and unknown to us": lambda result: result.audit.unknown_to_us,
    "held for a person": lambda result: result.audit.held,
    "rows generated": lambda result: result.audit.states[GENERATED],
    "rows failed": lambda result: result.audit.states[FAILED],
    "rows cancelled": lambda result: result.audit.states[CANCELLED],
    "slowest answer, s": lambda result: f"{result.slowest_s:.2f}",
}
