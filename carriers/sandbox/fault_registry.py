"""The armed faults, and the one that an operation meets."""

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from carriers.sandbox.faults import Fault, Kind, fault_named, magic_in
from carriers.sandbox.journeys import JOURNEYS, asked_for


@dataclass(frozen=True)
class Operation:
    """The facts about an operation that select its fault."""

    carrier: str
    name: str
    reference: str = ""  # alpha's shipperRef, beta's orderNumber
    rank: int = 1
    texts: tuple[str, ...] = ()  # the fields that can hold a magic reference


NO_FAULT = Fault("", is_made=True, does="nothing fails")
UNKNOWN = Fault("unknown", is_made=False, does="the reference names no fault and no journey", kind=Kind.REFUSAL)


@dataclass
class ArmedFault:
    """A fault that waits for its operation; None matches everything, a count of None never ends."""

    fault: Fault
    carrier: str | None = None
    operation: str | None = None
    reference: str | None = None
    rank: int | None = None
    count: int | None = None
    delay_s: float | None = None

    def matches(self, operation: Operation) -> bool:
        return (
            self.fault.kind is not Kind.CONTROL_ONLY
            and self.carrier in (None, operation.carrier)
            and operation.carrier in self.fault.carriers
            and self.operation in (None, operation.name)
            and self.reference in (None, operation.reference)
            and self.rank in (None, operation.rank)
        )

    def met(self) -> Fault:
        """Return the fault with its delay."""
        return self.fault if self.delay_s is None else replace(self.fault, delay_s=self.delay_s)


@dataclass
class FaultRegistry:
    """The armed faults, safe for threads."""

    _armed: list[ArmedFault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, armed: ArmedFault) -> None:
        with self._lock:
            self._armed.append(armed)

    def clear(self) -> None:
        with self._lock:
            self._armed.clear()

    def armed(self) -> list[dict[str, Any]]:
        with self._lock:
            return [{**asdict(armed), "fault": armed.fault.name} for armed in self._armed]

    def pick(self, operation: Operation) -> Fault:
        """Return the fault that an operation meets: an armed one, oldest first, or its magic reference's."""
        return self._use(lambda armed: armed.matches(operation)) or _magic(operation)

    def pick_named(self, name: str, operation: str | None = None) -> Fault | None:
        """Return the armed `accept` or `unfound`, unless it waits for another operation."""
        return self._use(lambda armed: armed.fault.name == name and armed.operation in (None, operation))

    def _use(self, is_met: Callable[[ArmedFault], bool]) -> Fault | None:
        with self._lock:
            armed = next(filter(is_met, self._armed), None)
            if armed is None:
                return None
            if armed.count is not None:
                armed.count -= 1
                if armed.count <= 0:
                    self._armed.remove(armed)
            return armed.met()


def _magic(operation: Operation) -> Fault:
    for rank, name in filter(None, map(magic_in, operation.texts)):
        if rank in (None, operation.rank):
            fault = fault_named(name, operation.carrier)
            return UNKNOWN if fault is None or fault.kind is Kind.CONTROL_ONLY else fault
    journeys = filter(None, map(asked_for, operation.texts))
    return NO_FAULT if all(journey in JOURNEYS for journey in journeys) else UNKNOWN
