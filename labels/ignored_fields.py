"""The fields of an order's body that its label does without, for the header ``Ignored-Fields``."""

from collections.abc import Iterator
from typing import Any

from rest_framework.serializers import ListSerializer

from carriers import order_table
from carriers.customs import needs_customs
from carriers.order_fields import OrderFacts
from carriers.products import PRODUCTS
from carriers.shipment import Party
from shops.api.ignored_header import header
from shops.api.serializer_fields import ObjectSerializer


def facts_in(body: dict[str, Any], sender_address: dict[str, str] | None = None) -> OrderFacts:
    """Read what decides where an order's fields go, of a body that may be invalid."""
    sender, recipient = (place(body.get(name)) for name in ("originAddress", "destinationAddress"))
    sender = sender or place(sender_address if "originAddress" not in body else None)
    customs, product_code = body.get("customs"), body.get("productCode")
    destination = body.get("destinationAddress")
    return OrderFacts(
        product=PRODUCTS.get(product_code) if isinstance(product_code, str) else None,
        country_code=recipient.country_code if recipient else "",
        crosses_border=needs_customs(sender, recipient) if sender and recipient else None,
        is_duties_paid=isinstance(customs, dict) and customs.get("dutiesPaidBySender") is True,
        has_instructions=isinstance(destination, dict) and bool(destination.get("instructions")),
    )


def place(address: Any) -> Party | None:
    """Return the country and the postal code of an address, if it has both."""
    if not isinstance(address, dict):
        return None
    country_code, zip_code = address.get("countryCode"), address.get("zip")
    if not (isinstance(country_code, str) and isinstance(zip_code, str)):
        return None
    return Party("", "", "", zip_code, "", country_code)


def header_of_order(body: Any, order: ObjectSerializer, sender_address: dict[str, str] | None) -> dict[str, str]:
    """Return the header that names the body's fields that are unknown or not needed, if there are any."""
    if not isinstance(body, dict):
        return {}
    return header(ignored(body, order, order_table.ignored(facts_in(body, sender_address))))


def ignored(
    value: dict[str, Any], serializer: Any, not_needed: set[str], path: str = "", declared: str = ""
) -> Iterator[str]:
    """Yield the ignored paths in the order of the body; `declared` is the path as the table has it, without indices."""
    for name, inner in value.items():
        known, own, of_table = serializer.fields.get(name), f"{path}{name}", f"{declared}{name}"
        if known is None or (inner != "" and of_table in not_needed):
            yield own
        elif isinstance(known, ListSerializer) and isinstance(inner, list):
            for index, each in enumerate(inner):
                if isinstance(each, dict):
                    yield from ignored(each, known.child, not_needed, f"{own}[{index}].", f"{of_table}[].")
        elif isinstance(known, ObjectSerializer) and isinstance(inner, dict):
            yield from ignored(inner, known, not_needed, f"{own}.", f"{of_table}.")
