"""Pickup points: remembered for a day, and refused when they cannot take a shipment."""

import time
from collections.abc import Callable
from datetime import date
from threading import Lock
from typing import Final

from cachetools import TTLCache

from carriers.errors import CarrierUnavailable, PickupPointRejected
from carriers.shipment import PickupPoint, Shipment
from carriers.shipping_day import shipping_day

DAY_S: Final = 24 * 3600
# Whether a point is open is asked again when the answer is older, or about another day.
FRESH_S: Final = 3600
MAX_POINTS: Final = 10_000
FIELD: Final = "pickupPointCode"

Key = tuple[str, str]  # country and code


class PickupPointCache:
    """The points that a process has asked for; all threads share it.

    An answer serves for an hour and the day that it is about. For the rest of 24 hours it stands in when the point
    service fails.
    """

    def __init__(self) -> None:
        self._points: TTLCache[Key, tuple[float, date, PickupPoint]] = TTLCache(MAX_POINTS, DAY_S)
        self._lock = Lock()

    def get(self, key: Key, day: date, ask: Callable[[], PickupPoint]) -> PickupPoint:
        """Return the point, asked for unless a fresh answer about the day is known; raises what `ask` raises."""
        with self._lock:
            asked_at, known_day, point = self._points.get(key, (0.0, day, None))
        if point and known_day == day and time.monotonic() - asked_at < FRESH_S:
            return point
        try:
            point = ask()
        except CarrierUnavailable:
            if point is None:
                raise
            return point
        with self._lock:
            self._points[key] = (time.monotonic(), day, point)
        return point


def check_point(carrier: str, point: PickupPoint, shipment: Shipment) -> None:
    """Raise PickupPointRejected for a point that is closed on the shipping day or too small for one of the parcels."""
    if not point.is_open_on(shipping_day(shipment)):
        raise PickupPointRejected(carrier, "is closed; let the customer choose another one", field=FIELD)
    heaviest_kg = max(package.weight_kg for package in shipment.packages)
    if point.max_weight_kg is not None and heaviest_kg > point.max_weight_kg:
        problem = f"takes parcels of at most {point.max_weight_kg.normalize():f} kg"
        raise PickupPointRejected(carrier, problem, field=FIELD)
