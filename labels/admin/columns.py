"""The columns of an export of labels."""

from decimal import Decimal
from typing import Any, Final

from shops.admin.exports import Column, joined


def total_kg(weights_kg: list[str]) -> Decimal:
    return sum(map(Decimal, weights_kg), Decimal(0))


def name(address: dict[str, Any]) -> str:
    return f"{address.get('firstName', '')} {address.get('lastName', '')}".strip()


def postal_code(address: dict[str, Any]) -> str:
    return str(address.get("zip", ""))


def city(address: dict[str, Any]) -> str:
    return str(address.get("city", ""))


def country(address: dict[str, Any]) -> str:
    return str(address.get("countryCode", ""))


EXPORT_COLUMNS: Final = (
    Column("Label", "id"),
    Column("Shop id", "shop_id"),
    Column("Shop", "shop__name"),
    Column("Order", "order_id"),
    Column("Reference", "reference"),
    Column("Carrier", "carrier_code"),
    Column("Product", "product_code"),
    Column("State", "state"),
    Column("Reason", "error_code"),
    Column("Tracking numbers", "tracking_numbers", joined),
    Column("Parcels", "weights_kg", len),
    Column("Weight (kg)", "weights_kg", total_kg),
    Column("Recipient", "recipient", name, is_personal=True),
    Column("Postal code", "recipient", postal_code, is_personal=True),
    Column("City", "recipient", city),
    Column("Country", "recipient", country),
    Column("Ordered (UTC)", "created_at"),
    Column("Finished (UTC)", "finished_at"),
    Column("Cancellation asked (UTC)", "cancel_requested_at"),
    Column("Access token", "token_id"),
)
