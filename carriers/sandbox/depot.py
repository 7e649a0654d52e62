"""What both carriers share: the ledger, the number ranges, the faults, and the order in which these act."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from carriers.sandbox.exchange import Answer, Delivery
from carriers.sandbox.faultbook import FaultBook, Operation, Play
from carriers.sandbox.faults import BOTH, Kind
from carriers.sandbox.ledger import Ledger, Purchase
from carriers.sandbox.numbers import NumberRange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from carriers.sandbox.label import Label


@dataclass(frozen=True)
class Parcel:
    """A parcel about to be made: what the ledger keeps of it."""

    product_code: str
    weight_kg: float
    rank: int
    count: int


class Depot:
    """One sandbox's state, safe for threads."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.faults = FaultBook()
        self.requests: Counter[str] = Counter()  # by first segment of the path
        self.closing = threading.Event()
        self._ranges = {carrier: NumberRange(carrier, ledger.highest_number(carrier)) for carrier in BOTH}

    def reset(self) -> None:
        """Forget purchases, faults and counts; numbers go on."""
        self.faults.clear()
        self.requests.clear()
        self.ledger.clear()

    def perform(
        self,
        operation: Operation,
        do: Callable[[Play | None], Answer],
        refuse: Callable[[str], Answer],
    ) -> Answer:
        """Do a valid operation, or fail it the way an armed fault or its magic reference says.

        `do` performs it and is told of the fault that concerns the content of its answer; `refuse` makes
        the carrier's own refusal of a name or code.
        """
        play = self.faults.pick(operation)
        if play is None:
            return do(None)
        match play.fault.kind:
            case Kind.REFUSAL:
                return refuse(play.fault.name)
            case Kind.CONTENT:
                return do(play)
            case Kind.TIMING:
                is_closing = self.closing.wait(play.delay_s)
                return replace(refuse("1"), delivery=Delivery.CLOSE) if is_closing else do(None)
            case Kind.WIRE:
                return self._spoilt(play, do, refuse)

    def _spoilt(
        self, play: Play, do: Callable[[Play | None], Answer], refuse: Callable[[str], Answer]
    ) -> Answer:
        assert play.fault.spoil is not None
        # Spoilers of a fault that buys nothing keep nothing of the answer they are given.
        return play.fault.spoil(do(play) if play.fault.is_made else refuse("1"), play.delay_s)

    def numbers(self, carrier: str, count: int, play: Play | None) -> list[str]:
        """Hand out tracking numbers, each a new one unless the fault `twin` is played."""
        if play is not None and play.fault.name == "twin":
            return [self._ranges[carrier].last()] * count
        return [self._ranges[carrier].take() for _ in range(count)]
