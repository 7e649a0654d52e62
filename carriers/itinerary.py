"""A shipment's itinerary: the day that it is handed in, the place that it goes to, the carrier's code for the way."""

from dataclasses import replace
from datetime import date, datetime
from typing import Final

from carriers.errors import RequestRejected
from carriers.products import PARIS, PRODUCTS, Route
from carriers.shipment import Package, Party, PickupPoint, Shipment
from carriers.validation import RECIPIENT

ANYWHERE: Final = "0"  # the postal code of no place, so of none with customs of its own


def now() -> datetime:
    """Return the time now, in Paris."""
    return datetime.now(PARIS)


def shipping_day(shipment: Shipment) -> date:
    """Return the day that the order names, today at the earliest: carriers refuse a day in the past."""
    today = now().date()
    return max(today, shipment.ship_on or today)


def destination(shipment: Shipment, point: PickupPoint | None) -> Party:
    """Return the recipient at the place that the parcels go to: as long as a point is not known, in its country."""
    if point:
        place = {"zip_code": point.zip_code, "city": point.city, "country_code": point.country_code}
        return replace(shipment.recipient, **place)
    is_to_point = PRODUCTS[shipment.product_code].needs_pickup_point
    return replace(shipment.recipient, zip_code=ANYWHERE) if is_to_point else shipment.recipient


def route_of(shipment: Shipment, package: Package) -> Route:
    """Return the carrier's code and service for one parcel; raises RequestRejected if the product does not go there."""
    product = PRODUCTS[shipment.product_code]
    sender_code, country_code = shipment.sender.country_code, shipment.recipient.country_code
    route = product.route(sender_code, country_code, package.weight_kg, shipment.override)
    if route is None:
        problem = f"{product.without_route(sender_code, country_code)}; order a product that does"
        raise RequestRejected(product.carrier, problem, field=f"{RECIPIENT}.countryCode")
    return route
