"""What is wrong with a shipment before any carrier sees it, told in the API's own names."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeVar

from carriers.base import Package, Party, Shipment
from carriers.errors import PickupPointRejected, Rejected, RequestRejected
from carriers.products import PRODUCTS, Product, Route
from carriers.text import Slot

SENDER: Final = "originAddress"
RECIPIENT: Final = "destinationAddress"

_EMAIL: Final = re.compile(r"[!-~]+@[!-~]{3,}")
_E164: Final = re.compile(r"\+[1-9][0-9]{4,14}")
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
T = TypeVar("T")


def all_of(*makers: Callable[[], T]) -> list[T]:
    """Return what each makes; where some refuse, raise the first one's error, with what the others say added to it."""
    made: list[T] = []
    refusals: list[Rejected] = []
    for make in makers:
        try:
            made.append(make())
        except Rejected as error:
            refusals.append(error)
    if refusals:
        first, *others = refusals
        raise type(first)(first.carrier, ". ".join([first.detail, *map(str, others)]), field=first.field)
    return made


def checked_product(carrier: str, shipment: Shipment, max_parcels: int, pickup_point_code: re.Pattern[str]) -> Product:
    """The product, once its pickup point and the parcels' weights are right for it; raises Rejected."""
    product = PRODUCTS.get(shipment.product_code)
    if product is None or product.carrier != carrier:
        raise RequestRejected(carrier, f"is no product of {carrier}", field="productCode")
    _check_countries(carrier, shipment)
    _check_pickup_point(product, shipment, pickup_point_code)
    _check_parcels(product, shipment, max_parcels)
    return product


def _check_countries(carrier: str, shipment: Shipment) -> None:
    for path, party in ((SENDER, shipment.sender), (RECIPIENT, shipment.recipient)):
        if not _COUNTRY.fullmatch(party.country_code):
            raise RequestRejected(carrier, "is no ISO 3166-1 alpha-2 code", field=f"{path}.countryCode")


def _check_pickup_point(product: Product, shipment: Shipment, pattern: re.Pattern[str]) -> None:
    if not product.needs_pickup_point:
        return
    code = shipment.pickup_point.code if shipment.pickup_point else ""
    if not pattern.fullmatch(code):
        problem = "is malformed" if code else "is required by the product"
        raise PickupPointRejected(product.carrier, problem, field="pickupPointCode")


def _check_parcels(product: Product, shipment: Shipment, max_parcels: int) -> None:
    if len(shipment.packages) > max_parcels:
        raise RequestRejected(product.carrier, f"are more than {max_parcels}", field="parcels")
    for index, package in enumerate(shipment.packages):
        if not Decimal(0) < package.weight_kg <= product.max_weight_kg:
            problem = f"is not above 0 and at most {product.max_weight_kg} kg"
            raise RequestRejected(product.carrier, problem, field=f"parcels[{index}].weight")


def route_of(shipment: Shipment, product: Product, package: Package) -> Route:
    """The carrier's code and service for one parcel; raises RequestRejected where the product does not go."""
    country_code = shipment.recipient.country_code
    route = product.route(country_code, package.weight_kg, shipment.ship_at, shipment.override)
    if route is None:
        problem = f"{product.code} does not go to {country_code}; order a product that does"
        raise RequestRejected(product.carrier, problem, field=f"{RECIPIENT}.countryCode")
    return route


def phone_of(party: Party, slot: Slot) -> str:
    """The party's phone as E.164, the form that both carriers are sent; empty where there is none."""
    if party.phone and not _E164.fullmatch(party.phone):
        raise slot.refuse("is no number in E.164 form")
    if len(party.phone) > slot.limit:
        raise slot.refuse(f"is longer than the {slot.limit} characters that {slot.carrier} takes")
    return party.phone


def email_of(party: Party, slot: Slot) -> str:
    """The party's e-mail address; raises Rejected for one that no carrier can write to."""
    if party.email and (len(party.email) > slot.limit or not _EMAIL.fullmatch(party.email)):
        raise slot.refuse(f"is no e-mail address of at most {slot.limit} characters")
    return party.email
