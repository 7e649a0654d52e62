"""The faults that the control endpoint armed, and which of them an operation meets."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from typing import Any

from carriers.sandbox.faults import BOTH, Fault, Kind, fault_named, magic_in


class FaultRequestError(ValueError):
    """The control endpoint was asked for something that is no fault."""


@dataclass(frozen=True)
class Operation:
    """What a carrier was asked to do, as far as faults look at it."""

    carrier: str
    name: str
    reference: str = ""  # alpha's shipperRef, beta's orderNumber
    rank: int = 1
    texts: tuple[str, ...] = ()  # the fields that can hold a magic reference


@dataclass(frozen=True)
class Play:
    """A fault to be played now."""

    fault: Fault
    delay_s: float


@dataclass
class Armed:
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
            self.carrier in (None, operation.carrier)
            and operation.carrier in self.fault.carriers
            and self.operation in (None, operation.name)
            and self.reference in (None, operation.reference)
            and self.rank in (None, operation.rank)
        )

    def as_play(self) -> Play:
        return Play(self.fault, self.fault.delay_s if self.delay_s is None else self.delay_s)


UNKNOWN = Fault("unknown", is_made=False, does="a magic reference that names no fault", kind=Kind.REFUSAL)
_APART = ("accept", "unfound")  # these are asked for by their names, not met by an operation


@dataclass
class FaultBook:
    """The armed faults, safe for threads."""

    _armed: list[Armed] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, armed: Armed) -> None:
        with self._lock:
            self._armed.append(armed)

    def clear(self) -> None:
        with self._lock:
            self._armed.clear()

    def waiting(self) -> list[dict[str, Any]]:
        with self._lock:
            return [{**asdict(armed), "fault": armed.fault.name} for armed in self._armed]

    def pick(self, operation: Operation) -> Play | None:
        """Return the fault this operation meets: an armed one, oldest first, or its magic reference's."""
        with self._lock:
            for armed in self._armed:
                if armed.fault.name not in _APART and armed.matches(operation):
                    return self._use(armed)
        return _magic(operation)

    def pick_apart(self, name: str) -> Play | None:
        """Return the armed `accept` or `unfound`."""
        with self._lock:
            armed = next((armed for armed in self._armed if armed.fault.name == name), None)
            return self._use(armed) if armed else None

    def _use(self, armed: Armed) -> Play:
        if armed.count is not None:
            armed.count -= 1
            if armed.count <= 0:
                self._armed.remove(armed)
        return armed.as_play()


def _magic(operation: Operation) -> Play | None:
    for asked in filter(None, map(magic_in, operation.texts)):
        rank, name = asked
        if rank in (None, operation.rank):
            fault = fault_named(name, operation.carrier)
            return Play(fault, fault.delay_s) if fault and fault.name not in _APART else Play(UNKNOWN, 0)
    return None


_FIELDS: dict[str, tuple[type, ...]] = {
    "fault": (str, int), "carrier": (str,), "operation": (str,), "reference": (str,), "rank": (int,),
    "count": (int,), "delay_s": (int, float),
}  # fmt: skip


def armed_from(content: Any) -> Armed:
    """Read a fault from the control endpoint's JSON; FaultRequestError says what is wrong with it."""
    if not isinstance(content, dict):
        raise FaultRequestError("a JSON object is expected")
    given = {name: value for name, value in content.items() if value is not None}
    for name, value in given.items():
        if name not in _FIELDS or isinstance(value, bool) or not isinstance(value, _FIELDS[name]):
            raise FaultRequestError(f"{name}: unknown, or of the wrong type")
    carrier = given.get("carrier")
    if carrier not in (None, *BOTH):
        raise FaultRequestError("carrier: alpha, beta or null")
    fault = fault_named(str(given.pop("fault", "")), carrier)
    if fault is None:
        raise FaultRequestError("fault: this carrier has none of that name")
    return Armed(fault, **given)
