"""Prometheus metrics of asking the carriers where parcels are."""

from prometheus_client import Counter

ASKED = Counter(
    "tracking_parcels_asked_total",
    "Tracking numbers that a carrier was asked about, by outcome.",
    ["carrier", "outcome"],
)
EVENTS = Counter(
    "tracking_events_total", "Events that carriers reported for the first time, by status.", ["carrier", "status"]
)
UNLISTED = Counter(
    "tracking_unlisted_events_total", "Those of them whose code is not in the carrier's table.", ["carrier"]
)
STATUS_CHANGES = Counter(
    "parcel_status_changes_total", "Parcels whose status became another, by the new one.", ["status"]
)
REFUSED_CONTRACTS = Counter(
    "tracking_refused_contracts_total", "Contracts whose credentials a tracking service refused.", ["carrier"]
)
