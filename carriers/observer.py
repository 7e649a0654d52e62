"""What a carrier's client tells whoever watches it: how each call ended, and when the carrier is given a rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

# Which shipment the calls made here are for, where whoever makes them says so.
_shipment_id: ContextVar[str | None] = ContextVar("shipment_id", default=None)


@dataclass(frozen=True)
class Call:
    """A call to a carrier that has ended: facts only, no secret, nothing personal, not the carrier's text.

    `outcome` is ``ok`` or the error's code without the carrier, in lower case; `carrier_code` the carrier's own.
    """

    carrier: str
    operation: str
    outcome: str
    duration_s: float
    http_status: int | None = None
    carrier_code: str = ""
    is_expected: bool = True

    @property
    def facts(self) -> dict[str, Any]:
        """What its line in the log says."""
        return {
            "carrier": self.carrier,
            "operation": self.operation,
            "outcome": self.outcome,
            "http_status": self.http_status,
            "duration_ms": round(self.duration_s * 1000),
            "carrier_code": self.carrier_code,
            "label": _shipment_id.get(),
        }


class Observer(Protocol):
    """Watches one carrier's client."""

    def call_ended(self, call: Call) -> None:
        """Be told of every call, those that the guard refuses included."""

    def rest_changed(self, carrier: str, *, is_resting: bool) -> None:
        """Be told when the carrier is given a rest, and when it is trusted again."""


class NullObserver:
    """Watches nothing."""

    def call_ended(self, call: Call) -> None:
        """Do nothing."""

    def rest_changed(self, carrier: str, *, is_resting: bool) -> None:
        """Do nothing."""


@contextmanager
def calls_for(shipment_id: str) -> Iterator[None]:
    """Have the log lines of the calls made in the block name the shipment."""
    token = _shipment_id.set(shipment_id)
    try:
        yield
    finally:
        _shipment_id.reset(token)
