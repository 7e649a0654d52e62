"""The day on which a shipment's parcels are handed in."""

from datetime import date, datetime

from carriers.products import PARIS
from carriers.shipment import Shipment


def now() -> datetime:
    """Return the time now, in Paris."""
    return datetime.now(PARIS)


def shipping_day(shipment: Shipment) -> date:
    """Return the day that the order names, today at the earliest: carriers refuse a day in the past."""
    today = now().date()
    return max(today, shipment.ship_on or today)
