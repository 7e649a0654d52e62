"""The faults that the sandbox can inject, as data, and the names that ask for them; `help.txt` says how.

The magic reference is the one public field that is free text, optional and not validated against others, so a fault can
be asked for with any address and product. alpha receives it as `recipientRef` (as `content1` for relay products), beta
as `senderParcelRef`. Names consist of letters and digits, because alpha's text drops everything else, and have at most
nine characters, because beta's field holds 15.

A parcel whose label was lost by a fault is never handed in, as nobody could print it.
"""

import enum
import re
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from carriers.sandbox import corruption
from carriers.sandbox.corruption import Corruption
from carriers.sandbox.data import rows
from carriers.sandbox.journeys import JOURNEYS, asked_for

BOTH: tuple[str, ...] = ("alpha", "beta")
# Other words may stand before it.
_MAGIC = re.compile(r"(?:.* )?FAULT (?:([1-9]) )?([A-Z0-9]+)")
# beta's magic reference has no room for the names of its routing errors: R18 is ROUTING_18, IV106 GEO_ROUTING_IV106.
_CODE = re.compile(r"\d{1,5}|ROUTING(_\w+)?|(?:ROUTING|R)(\d{1,3})|(?:GEO_ROUTING_)?IV(\d{3})")


class Kind(enum.Enum):
    """The part of the sandbox that injects a fault."""

    REFUSAL = "refusal"  # the carrier refuses in its own words and buys nothing
    RESPONSE = "response"  # the carrier's answer is written wrong, or corrupted by `corrupt`
    DELAY = "delay"  # the operation waits and then succeeds
    CONTROL_ONLY = "control only"  # looked up by name where it matters; a purchase can't ask for it


@dataclass(frozen=True)
class Fault:
    """One failure; `is_made` says that the parcel is bought all the same, `loses_label` that nobody could print it."""

    name: str
    is_made: bool
    does: str
    corrupt: Corruption | None = None
    kind: Kind = Kind.RESPONSE
    carriers: tuple[str, ...] = BOTH
    delay_s: float = 0.0
    loses_label: bool = False


def _fault(row: dict[str, str]) -> Fault:
    how, _, status = row["how"].partition(" ")  # HTML has its status there
    return Fault(
        row["name"],
        row["bought"] != "",
        row["does"],
        corruption.html(int(status)) if status else getattr(corruption, how) if how else None,
        Kind(row["kind"]),
        tuple(row["carriers"].split()),
        float(row["delay_s"] or 0),
        row["bought"] == "label lost",
    )


FAULTS = tuple(map(_fault, rows("faults.csv")))
_BY_NAME = {fault.name: fault for fault in FAULTS}


def fault_named(name: str, carrier: str | None) -> Fault | None:
    """Return a fault by its name or a carrier's error code; None when that carrier has no such fault."""
    if match := _CODE.fullmatch(name.upper()):
        return Fault(_code(match), is_made=False, does="the carrier's error of that code", kind=Kind.REFUSAL)
    fault = _BY_NAME.get(name.lower())
    return fault if fault and (carrier is None or carrier in fault.carriers) else None


def _code(match: re.Match[str]) -> str:
    """Return the carrier's own spelling of an error code."""
    if match[2]:
        return f"ROUTING_{match[2]}"
    if match[3]:
        return f"GEO_ROUTING_IV{match[3]}"
    return "ROUTING_ERROR" if match[0] == "ROUTING" else match[0]


def magic_in(text: str) -> tuple[int | None, str] | None:
    """Return the parcel's rank and the fault's name that a magic reference asks for."""
    match = _MAGIC.fullmatch(" ".join(text.upper().split()))
    return (int(match[1]) if match[1] else None, match[2]) if match else None


def fault_table() -> str:
    rows = [
        (f.name, " ".join(f.carriers), "yes" if f.is_made else "no", f"{f.delay_s:g} s" if f.delay_s else "", f.does)
        for f in FAULTS
    ]
    header = ["| fault | carrier | bought | delay | what happens |", "|---|---|---|---|---|"]
    return "\n".join([*header, *(f"| {' | '.join(row)} |" for row in rows)])


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
            return armed.fault if armed.delay_s is None else replace(armed.fault, delay_s=armed.delay_s)


def _magic(operation: Operation) -> Fault:
    for rank, name in filter(None, map(magic_in, operation.texts)):
        if rank in (None, operation.rank):
            fault = fault_named(name, operation.carrier)
            return UNKNOWN if fault is None or fault.kind is Kind.CONTROL_ONLY else fault
    journeys = filter(None, map(asked_for, operation.texts))
    return NO_FAULT if all(journey in JOURNEYS for journey in journeys) else UNKNOWN
