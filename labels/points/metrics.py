"""Prometheus metrics of searches for pickup points."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from prometheus_client import Counter

from carriers.pickup_points import SEARCH_FRESH_S, FoundPoints

FRESH: Final = timedelta(seconds=SEARCH_FRESH_S)
SEARCHES = Counter(
    "pickup_point_searches_total",
    "Searches for pickup points that were answered, by where the answer came from.",
    ["carrier", "source"],
)


class Source(StrEnum):
    """Where the answer to a search came from."""

    CARRIER = "carrier"
    MEMORY = "memory"
    STAND_IN = "stand_in"  # the memory of up to a day, as the carrier was down


def count_search(carrier_code: str, found: FoundPoints, *, began_at: datetime) -> None:
    """Count a search that began then, by the age of its answer."""
    is_fresh = datetime.now(UTC) - found.asked_at < FRESH
    source = Source.CARRIER if found.asked_at >= began_at else Source.MEMORY if is_fresh else Source.STAND_IN
    SEARCHES.labels(carrier_code, source).inc()
