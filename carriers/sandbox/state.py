"""What both carriers share: the ledger, the number ranges, the faults, and the order in which these act."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from carriers.sandbox.exchange import Answer, Delivery
from carriers.sandbox.fault_registry import FaultBook
from carriers.sandbox.faults import BOTH, Kind
from carriers.sandbox.ledger import purchase_of
from carriers.sandbox.numbers import NumberRange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from carriers.sandbox.fault_registry import Operation, Play
    from carriers.sandbox.label import Label
    from carriers.sandbox.ledger import Ledger


# What a fault that buys nothing starts from; it keeps none of it.
_NOTHING = Answer(200, "text/plain", b"")


class Depot:
    """One sandbox's state, safe for threads."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.faults = FaultBook()
        self.closing = threading.Event()
        self._epoch_over = threading.Event()
        self._requests: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ranges = {carrier: NumberRange(carrier, ledger.highest_number(carrier)) for carrier in BOTH}

    def reset(self) -> None:
        """Forget purchases, faults and counts and break off what waits; numbers go on."""
        with self._lock:
            self._requests.clear()
            ended, self._epoch_over = self._epoch_over, threading.Event()
        # A slow purchase from before must not show up in the ledger that starts now.
        ended.set()
        self.faults.clear()
        self.ledger.clear()

    def close(self) -> None:
        self.closing.set()
        self._epoch_over.set()

    def wait(self, delay_s: float) -> bool:
        """Wait so long; true at once when the sandbox is reset or closed meanwhile."""
        return self._epoch_over.wait(delay_s)

    def count(self, path: str) -> None:
        with self._lock:
            self._requests[path] += 1

    def counts(self) -> dict[str, int]:
        """Return how many requests each path has received."""
        with self._lock:
            return dict(self._requests)

    def perform(
        self,
        operation: Operation,
        do: Callable[[Play | None], Answer],
        refuse: Callable[[str], Answer],
    ) -> Answer:
        """Do a valid operation, or fail it the way an armed fault or its magic reference says.

        `do` performs it and is told of the fault, which may concern what it writes; `refuse` makes the
        carrier's own refusal of a fault's name or an error code.
        """
        epoch_over = self._epoch_over
        play = self.faults.pick(operation)
        if play is None:
            return do(None)
        if play.fault.kind is Kind.REFUSAL:
            return refuse(play.fault.name)
        if play.fault.kind is Kind.TIMING:
            is_over = epoch_over.wait(play.delay_s)
            return replace(_NOTHING, delivery=Delivery.CLOSE) if is_over else do(None)
        answer = do(play) if play.fault.is_made else _NOTHING
        return replace(play.fault.spoil(answer), delay_s=play.delay_s) if play.fault.spoil else answer

    def sell(self, labels: Sequence[Label], account: str, play: Play | None) -> None:
        """Enter one call's parcels in the ledger."""
        made_at_s = time.time()
        is_late = play is not None and play.fault.name == "late"
        findable_at_s = made_at_s + (play.delay_s if play and is_late else 0)
        self.ledger.record([(purchase_of(label, account, made_at_s, findable_at_s), label) for label in labels])

    def numbers(self, carrier: str, count: int, play: Play | None) -> list[str]:
        """Hand out tracking numbers, each a new one unless the fault `twin` is played."""
        if play is not None and play.fault.name == "twin":
            return [self._ranges[carrier].last()] * count
        return [self._ranges[carrier].take() for _ in range(count)]
