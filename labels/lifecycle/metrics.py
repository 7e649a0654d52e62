"""Prometheus metrics of purchases, and of searches for pickup points."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from prometheus_client import Counter

from carriers.pickup_points import SEARCH_FRESH_S, FoundPoints

if TYPE_CHECKING:
    from labels.models import ShippingLabel

FRESH: Final = timedelta(seconds=SEARCH_FRESH_S)


class Source(StrEnum):
    """Where the answer to a search came from."""

    CARRIER = "carrier"
    MEMORY = "memory"
    STAND_IN = "stand_in"  # the memory of up to a day, as the carrier was down


PURCHASES = Counter(
    "label_purchases_total", "Purchases of labels, by the state that their request left them in.", ["carrier", "state"]
)
SEARCHES = Counter(
    "pickup_point_searches_total",
    "Searches for pickup points that were answered, by where the answer came from.",
    ["carrier", "source"],
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


def count_search(carrier_code: str, found: FoundPoints, *, began_at: datetime) -> None:
    """Count a search that began then, by the age of its answer."""
    is_fresh = datetime.now(UTC) - found.asked_at < FRESH
    source = Source.CARRIER if found.asked_at >= began_at else Source.MEMORY if is_fresh else Source.STAND_IN
    SEARCHES.labels(carrier_code, source).inc()
