"""Prometheus metrics of purchases."""

from typing import TYPE_CHECKING

from prometheus_client import Counter

if TYPE_CHECKING:
    from labels.models import ShippingLabel

PURCHASES = Counter(
    "label_purchases_total", "Purchases of labels, by the state that their request left them in.", ["carrier", "state"]
)
TRANSITIONS = Counter(
    "label_transitions_total",
    "Transitions of labels' states, by the event of the runbook's table.",
    ["carrier", "event"],
)
UNRECORDED = Counter("labels_unrecorded_total", "Labels that were bought and could not be recorded.", ["carrier"])
VANISHED_ROWS = Counter(
    "label_rows_vanished_total", "Rows that the database had lost, written again by their purchase.", ["carrier"]
)


def count_purchase(label: "ShippingLabel") -> None:
    PURCHASES.labels(label.carrier_code, label.state).inc()
