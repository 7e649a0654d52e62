"""Observers of a carrier's client: around each call, told how it ended, and when a circuit breaker changes state."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from carriers.circuit_breaker import CircuitState

# The shipment that the current calls are for, if the caller has named it.
_shipment_id: ContextVar[str | None] = ContextVar("shipment_id", default=None)


@dataclass(frozen=True)
class Call:
    """The facts of a finished call to a carrier: no secret, nothing personal, none of the carrier's text.

    `outcome` is ``ok`` or the error's code without the carrier, in lower case; `carrier_code` is the carrier's own.
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
        """The fields of its log line."""
        return {
            "carrier": self.carrier,
            "operation": self.operation,
            "outcome": self.outcome,
            "http_status": self.http_status,
            "duration_ms": round(self.duration_s * 1000),
            "carrier_code": self.carrier_code,
            "label": _shipment_id.get(),
        }


class Observer:
    """Watches one carrier's client; this one takes note of nothing."""

    def during_call(self) -> AbstractContextManager[None]:
        """Surround a call, which may wait for the carrier for long."""
        return nullcontext()

    def call_ended(self, call: Call) -> None:
        """Take note of a call; those that the circuit breaker refuses count, too."""

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        """Take note of the new state of a service's circuit breaker."""


@contextmanager
def calls_for(shipment_id: str | None) -> Iterator[None]:
    """Name the shipment in the log lines of the calls made in the block."""
    token = _shipment_id.set(shipment_id)
    try:
        yield
    finally:
        _shipment_id.reset(token)
