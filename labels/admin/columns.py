"""The columns of an export of labels."""

from typing import Any, Final

from labels.models import total_kg
from shops.staff.exports import OF_SHOP, Column, joined, member


def name(address: dict[str, Any]) -> str:
    return f"{address.get('firstName', '')} {address.get('lastName', '')}".strip()


EXPORT_COLUMNS: Final = (
    Column("Label", "id"),
    *OF_SHOP,
    Column("Order", "order_id"),
    Column("Reference", "reference"),
    Column("Carrier", "carrier_code"),
    Column("Product", "product_code"),
    Column("State", "state"),
    Column("Reason", "error_code"),
    Column("Tracking numbers", "tracking_numbers", joined),
    Column("Parcels", "weights_kg", len),
    Column("Weight (kg)", "weights_kg", total_kg),
    Column("Recipient", "recipient", name),
    Column("Postal code", "recipient", member("zip")),
    Column("City", "recipient", member("city")),
    Column("Country", "recipient", member("countryCode")),
    Column("Ordered", "created_at"),
    Column("Finished", "finished_at"),
    Column("Cancellation asked", "cancel_requested_at"),
    Column("Access token", "token_id"),
)
