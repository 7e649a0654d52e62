"""The rules between an order's fields: those of its carrier, its product and its goods."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from carriers import CARRIERS, itinerary
from carriers.base import Carrier
from carriers.customs import needs_customs
from carriers.itinerary import ANYWHERE
from carriers.order_table import OrderFacts, refusals
from carriers.products import PRODUCTS, Product
from carriers.shipment import Party
from shops.api.field_faults import Fault
from shops.contracts import phones
from shops.contracts.terms import products_of

NO_SENDER = "is required, as the shop has no sender address of its own."
MAX_PARCELS = max(carrier.max_parcels for carrier in CARRIERS.values())
MAX_WEIGHT_KG = 30
MAX_ITEMS = 100  # that beta takes of a parcel
MAX_QUANTITY = 999


def facts_in(body: dict[str, Any], sender_address: dict[str, str] | None = None) -> OrderFacts:
    """Read what decides where an order's fields go, of a body that may be invalid.

    Of a pickup product nothing tells where in the country its point is.
    """
    destination, customs, product_code = body.get("destinationAddress"), body.get("customs"), body.get("productCode")
    sender, recipient = place(body.get("originAddress", sender_address)), place(destination)
    product = PRODUCTS.get(product_code) if isinstance(product_code, str) else None
    if recipient and product and product.needs_pickup_point:
        recipient = replace(recipient, zip_code=ANYWHERE)
    return OrderFacts(
        product=product,
        country_code=recipient.country_code if recipient else "",
        crosses_border=crosses_border(sender, recipient),
        is_duties_paid=isinstance(customs, dict) and customs.get("dutiesPaidBySender") is True,
        has_instructions=isinstance(destination, dict) and bool(destination.get("instructions")),
    )


def crosses_border(sender: Party | None, recipient: Party | None) -> bool | None:
    """Return whether customs are needed between the two places; None where one of them is not known."""
    return needs_customs(sender, recipient) if sender and recipient else None


def day_in(text: Any) -> date | None:
    """Return the day that a field names, if it does."""
    with suppress(TypeError, ValueError):
        return date.fromisoformat(text)
    return None


def place(address: Any) -> Party | None:
    """Return the country and the postal code of an address, if it has both."""
    if not isinstance(address, dict):
        return None
    country_code, zip_code = address.get("countryCode"), address.get("zip")
    if not (isinstance(country_code, str) and isinstance(zip_code, str)):
        return None
    return Party("", "", "", zip_code, "", country_code)


def order_faults(data: dict[str, Any]) -> Iterator[Fault]:
    """Find what its product, its carrier or other fields forbid of a body that may be invalid by itself, too."""
    facts, carrier_code = facts_in(data), data.get("carrierCode")
    carrier = CARRIERS.get(carrier_code) if isinstance(carrier_code, str) else None
    product = facts.product
    if product and carrier and product.carrier != carrier.name:
        own = ", ".join(products_of(carrier.name))
        yield ["productCode"], f"is a product of {product.carrier}, not of {carrier.name}, which has {own}."
    else:
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
        yield from refusals(OrderFacts(product, days_ahead=(ship_on - itinerary.now().date()).days))
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


def listed(things: Any, most: int = MAX_PARCELS) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a body's parcels or items that can be looked into, with their index."""
    for index, thing in enumerate(things[:most] if isinstance(things, list) else []):
        if isinstance(thing, dict):
            yield index, thing


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


def customs_faults(order: dict[str, Any]) -> Iterator[Fault]:
    """Find goods that are heavier than the parcels, or in parcels that the order has not."""
    customs, parcels = order.get("customs"), order.get("parcels")
    items = customs.get("items") if isinstance(customs, dict) else None
    if isinstance(items, list) and isinstance(parcels, list):
        yield from place_faults(items, len(parcels))
    goods_kg, parcels_kg = total_kg(items, has_quantity=True), total_kg(parcels, has_quantity=False)
    if goods_kg is not None and parcels_kg is not None and goods_kg > parcels_kg:
        yield ["customs", "items"], "must not weigh more than the parcels."


def place_faults(items: list[Any], count: int) -> Iterator[Fault]:
    """Find goods whose parcel is not named, as those of others are, or is none of the `count`."""
    ranks = {index: item.get("parcel") for index, item in listed(items, MAX_ITEMS)}
    is_named = any(rank is not None for rank in ranks.values())
    for index, rank in ranks.items():
        if is_named and rank is None:
            yield ["customs", "items", index, "parcel"], "is required, as other items name their parcel."
        elif type(rank) is int and rank >= count:
            yield ["customs", "items", index, "parcel"], f"must be the index of a parcel, from 0 to {count - 1}."


def total_kg(things: Any, *, has_quantity: bool) -> Decimal | None:
    """Add up the weights of a body's items or parcels; None where one of them is invalid."""
    if not isinstance(things, list) or len(things) > MAX_ITEMS or not all(isinstance(thing, dict) for thing in things):
        return None
    total = Decimal(0)
    for thing in things:
        weight, quantity = thing.get("weight"), thing.get("quantity") if has_quantity else 1
        if type(weight) not in (int, float) or type(quantity) is not int:
            return None
        if not (0 < weight <= MAX_WEIGHT_KG and 1 <= quantity <= MAX_QUANTITY):
            return None
        total += Decimal(str(weight)) * quantity
    return total
