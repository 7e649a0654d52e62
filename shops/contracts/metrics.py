"""Carriers' figures for Prometheus."""

from prometheus_client import Gauge, Histogram

from carriers.observer import Call

# A carrier answers within a second or so, and is given up after CARRIER_TIMEOUT (20 s).
CALL_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 20, 30)

CALLS = Histogram(
    "carrier_call_duration_seconds",
    "Calls to carriers, by operation and outcome; a call that was refused at once, too.",
    ["carrier", "operation", "outcome"],
    buckets=CALL_BUCKETS_S,
)
RESTING = Gauge(
    "carrier_resting",
    "In how many processes the carrier is given a rest after repeated failures.",
    ["carrier"],
    multiprocess_mode="livesum",
)


class CarrierMetrics:
    """Counts what a carrier's client does."""

    def call_ended(self, call: Call) -> None:
        CALLS.labels(call.carrier, call.operation, call.outcome).observe(call.duration_s)

    def rest_changed(self, carrier: str, *, is_resting: bool) -> None:
        RESTING.labels(carrier).set(is_resting)
