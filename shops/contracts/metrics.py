"""Prometheus metrics, and spans, of the calls to carriers; none of them holds a database connection for long."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from django.db import connection
from prometheus_client import Gauge, Histogram

from carriers.circuit_breaker import CircuitState
from carriers.client import Call, Observer
from shops import spans

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


@contextmanager
def connection_released_after(seconds: float) -> Iterator[None]:
    """Keep this thread's connection through a short block, and end it in the middle of a long one.

    The block uses no database. A call that hangs must not hold a connection that look-ups need.
    """
    held = connection.connection if connection.vendor == "postgresql" else None
    release = threading.Timer(seconds, held.close) if held else None
    if release:
        try:
            release.start()
        except RuntimeError:  # the system has no thread to give now: the call goes on
            release = None
    try:
        yield
    finally:
        if held and release:
            release.cancel()
            release.join()
            # The server may have ended it meanwhile.
            connection.health_check_done = False  # type: ignore[attr-defined]  # the types leave it out
            if held.closed:
                connection.close()


class SandboxMetrics(Observer):
    """Traces test shops' calls, and counts nothing of them: an alert is about the carriers."""

    def during_call(self) -> AbstractContextManager[None]:
        return connection_released_after(RELEASED_AFTER_S)

    def call_ended(self, call: Call) -> None:
        spans.call_ended(call)


class CarrierMetrics(SandboxMetrics):
    """Counts the calls of a carrier's client, too, and shows its circuit breakers."""

    def call_ended(self, call: Call) -> None:
        CALLS.labels(call.carrier, call.operation, call.outcome).observe(call.duration_s)
        super().call_ended(call)

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        show_circuit_state(carrier, service, state)
