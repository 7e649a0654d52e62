"""The personal data of parcels: what of each column is masked from those who may not see it."""

from typing import Any

from shops.admin.personal import MASKED, dots, dots_in


def without(*names: str) -> Any:
    """Return a function that takes these members out of each object of a list."""
    return lambda rows: [row | dict.fromkeys(names) for row in rows]


def of_each(*names: str) -> Any:
    """Return a function that masks these members of each object of a list."""
    return lambda rows: [dots_in(*names)(row) for row in rows]


def destination(to: dict[str, Any]) -> dict[str, Any]:
    """Leave city, province and country."""
    names = ("firstName", "lastName", "name", "company", "address1", "address2", "zip", "phone")
    return dots_in(*names)(to) | {"latitude": None, "longitude": None}


# Texts of carriers may name the customer, a neighbour or who signed.
PARCEL = {
    "destination": destination,
    "carrier_last_status": dots_in("description"),
    "events": of_each("label"),
    "line_items": without("metadata"),  # an engraving, a dedication
    "customer_email": dots,
    "previous_emails": lambda emails: [MASKED for _ in emails],
    "gift_config": dots,
}
TRACKING = {"carrier_events": of_each("text", "place")}
UNLISTED_CODE = {"text": dots}
