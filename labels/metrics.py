"""Prometheus metrics of purchases, and of searches for pickup points."""

from prometheus_client import Counter

PURCHASES = Counter(
    "label_purchases_total", "Purchases of labels, by the state that their request left them in.", ["carrier", "state"]
)
TRANSITIONS = Counter(
    "label_transitions_total",
    "Transitions of labels' states, by the event of the runbook's table.",
    ["carrier", "event"],
)
TURNED_AWAY = Counter(
    "label_orders_turned_away_total", "Orders that were refused as too many were under way at the carrier.", ["carrier"]
)
UNRECORDED = Counter("labels_unrecorded_total", "Labels that were bought and could not be recorded.", ["carrier"])
VANISHED_ROWS = Counter(
    "label_rows_vanished_total", "Rows that the database had lost, written again by their purchase.", ["carrier"]
)
POINT_SEARCHES = Counter(
    "pickup_point_searches_total",
    "Searches for pickup points that were answered, by where the answer came from.",
    ["carrier", "source"],
)
