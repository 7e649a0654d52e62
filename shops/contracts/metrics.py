"""Prometheus metrics, and spans, of the calls to carriers; none of them holds a database connection for long."""

from contextlib import AbstractContextManager

from prometheus_client import Gauge, Histogram

from carriers.circuit_breaker import CircuitState
from carriers.observer import Call, Observer
from shops import spans
from shops.db.idle import connection_released_after

# Connecting costs PostgreSQL more than all statements of a purchase, and most carriers answer within this time.
RELEASED_AFTER_S = 2.0
# A carrier usually answers within a second; the deadline is CARRIER_TIMEOUT (20 s).
CALL_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 20, 30)

CALLS = Histogram(
    "carrier_call_duration_seconds",
    "Calls to carriers, by operation and outcome; includes calls that the circuit breaker refused.",
    ["carrier", "operation", "outcome"],
    buckets=CALL_BUCKETS_S,
)
CIRCUIT_BREAKER = Gauge(
    "carrier_circuit_breaker",
    "Processes whose circuit breaker for the carrier's service is in the state.",
    ["carrier", "service", "state"],
    multiprocess_mode="livesum",
)


def show_circuit_state(carrier: str, service: str, state: CircuitState) -> None:
    """Set the gauges of this process: 1 for the circuit breaker's state, 0 for the others."""
    for each in CircuitState:
        CIRCUIT_BREAKER.labels(carrier, service, each).set(each is state)


class CarrierMetrics(Observer):
    """Records the calls and the circuit breakers of a carrier's client."""

    def during_call(self) -> AbstractContextManager[None]:
        return connection_released_after(RELEASED_AFTER_S)

    def call_ended(self, call: Call) -> None:
        CALLS.labels(call.carrier, call.operation, call.outcome).observe(call.duration_s)
        spans.call_ended(call)

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        show_circuit_state(carrier, service, state)


class SandboxMetrics(CarrierMetrics):
    """Counts nothing of test shops' calls: an alert is about the carriers."""

    def call_ended(self, call: Call) -> None:
        spans.call_ended(call)

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        """Leave the carrier's gauge as it is; the client has logged the change."""
