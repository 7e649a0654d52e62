"""The columns of an export of parcels."""

from typing import Final

from parcels.templatetags.parcel_page import moment
from shops.staff.exports import OF_SHOP, Column, joined, member

EXPORT_COLUMNS: Final = (
    Column("Parcel", "id"),
    *OF_SHOP,
    Column("Order", "order_id"),
    Column("Order number", "order_number"),
    Column("Tracking number", "tracking_id"),
    Column("All numbers", "tracking_numbers", joined),
    Column("Carrier", "carrier_code"),
    Column("Product", "carrier_product"),
    Column("Status", "last_status"),
    Column("Status since", "last_status_updated_at", moment),
    Column("Expected by", "estimated_delivery_date_window", lambda window: moment(window.get("maximumDeliveryDate"))),
    Column("Handed in", "handed_in_at", moment),
    Column("Delivered", "delivery_date", moment),
    Column("Customer's e-mail", "customer_email"),
    Column("Postal code", "destination", member("zip")),
    Column("City", "destination", member("city")),
    Column("Country", "destination", member("countryCode")),
    Column("Created", "created_at", moment),
    Column("Updated", "updated_at", moment),
)
