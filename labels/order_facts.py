"""The facts that decide where the fields of an order's body go."""

from contextlib import suppress
from datetime import date
from typing import Any

from carriers.customs import needs_customs
from carriers.order_fields import OrderFacts
from carriers.products import PRODUCTS
from carriers.shipment import Party


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
