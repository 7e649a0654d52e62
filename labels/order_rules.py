"""The rules between an order's fields: those of its carrier, its product and its goods."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from carriers import CARRIERS, shipping_day
from carriers.base import Carrier
from carriers.order_fields import OrderFacts
from carriers.order_table import refusals
from carriers.products import PRODUCTS, Product
from labels.customs import customs_faults
from labels.order_facts import facts_in
from shops.api.field_faults import Fault
from shops.contracts import phones

NO_SENDER = "is required, as the shop has no sender address of its own."
MAX_PARCELS = max(carrier.max_parcels for carrier in CARRIERS.values())


def order_faults(data: dict[str, Any]) -> Iterator[Fault]:
    """Find what its product, its carrier or other fields forbid of a body that may be invalid by itself, too."""
    facts, carrier_code = facts_in(data), data.get("carrierCode")
    carrier = CARRIERS.get(carrier_code) if isinstance(carrier_code, str) else None
    product = facts.product
    if product and carrier and product.carrier != carrier.name:
        own = ", ".join(code for code, each in PRODUCTS.items() if each.carrier == carrier.name)
        yield ["productCode"], f"is a product of {product.carrier}, not of {carrier.name}, which has {own}."
        return
    yield from ((path.split("."), words) for path, words in refusals(facts))
    if product:
        yield from product_faults(product, data)
        carrier = CARRIERS[product.carrier]
    if carrier:
        yield from carrier_faults(carrier, data)
    yield from customs_faults(data)


def late_faults(product: Product | None, ship_on: date | None, *, has_sender: bool) -> Iterator[tuple[str, str]]:
    """Find what a replay is never refused for: a day that is over by now, or too far ahead, and no sender."""
    if ship_on:
        yield from refusals(OrderFacts(product, days_ahead=(ship_on - shipping_day.now().date()).days))
    if not has_sender:
        yield "originAddress", NO_SENDER


def carrier_faults(carrier: type[Carrier], data: dict[str, Any]) -> Iterator[Fault]:
    """Find what is beyond the carrier's own limits."""
    parcels = data.get("parcels")
    if isinstance(parcels, list) and not 1 <= len(parcels) <= carrier.max_parcels:
        yield ["parcels"], f"must have 1 to {carrier.max_parcels} elements for {carrier.name}."
    too_long = f"must have at most {carrier.max_reference_length} characters for {carrier.name}."
    for path, holder in (([], data), *((["parcels", index], parcel) for index, parcel in listed(parcels))):
        reference = holder.get("reference")
        if isinstance(reference, str) and len(reference) > carrier.max_reference_length:
            yield [*path, "reference"], too_long


def listed(parcels: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a body's parcels that can be looked into, with their index."""
    for index, parcel in enumerate(parcels[:MAX_PARCELS] if isinstance(parcels, list) else []):
        if isinstance(parcel, dict):
            yield index, parcel


def product_faults(product: Product, data: dict[str, Any]) -> Iterator[Fault]:
    """Find what the product requires and is missing, or does not take."""
    code, carrier = data.get("pickupPointCode", ""), CARRIERS[product.carrier]
    if code == "" and product.needs_pickup_point:
        yield ["pickupPointCode"], f"is required for {product.code}."
    elif code != "" and isinstance(code, str) and not carrier.pickup_point_code.fullmatch(code):
        yield ["pickupPointCode"], f"must be a pickup point code of {carrier.name}: {carrier.pickup_point_form}."
    if product.needs_pickup_point:
        yield from contact_faults(product, data)
    for number, parcel in listed(data.get("parcels")):
        weight = parcel.get("weight")
        if isinstance(weight, int | float) and weight > product.max_weight_kg:
            limit = f"must be above 0 and at most {product.max_weight_kg} kilograms for {product.code}."
            yield ["parcels", number, "weight"], limit


def contact_faults(product: Product, data: dict[str, Any]) -> Iterator[Fault]:
    """Find missing contacts: the parcel is announced at a pickup point by the customer's phone and e-mail.

    A number that no country gives out reaches nobody.
    """
    destination = data.get("destinationAddress")
    if isinstance(destination, dict):
        for name in ("phone", "email"):
            value = destination.get(name, "")
            if isinstance(value, str) and not value.strip():
                yield ["destinationAddress", name], f"is required for {product.code}."
        phone, country_code = destination.get("phone"), destination.get("countryCode")
        if isinstance(phone, str) and isinstance(country_code, str) and phones.is_of_nobody(phone, country_code):
            yield ["destinationAddress", "phone"], f"must be a number that exists for {product.code}."
