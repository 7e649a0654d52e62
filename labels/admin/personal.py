"""The personal data of labels: what of each column is masked from those who may not see it."""

from typing import Any

from labels.models import ShippingLabel
from shops.admin.personal import dots, dots_in

party = dots_in(*("firstName", "lastName", "company", "address1", "address2", "instructions", "zip", "phone", "email"))
LABEL = {
    "recipient": party,
    "parcel_references": lambda references: list(map(dots, references)),
    "error_message": dots,  # a carrier's text may quote the address
}


def columns_of(label: ShippingLabel) -> dict[str, Any]:
    """Return the columns to mask; a sender other than the shop may be a customer who returns something."""
    is_the_shops = "sender" in label.__dict__ and label.sender == label.shop.sender_address
    return LABEL if is_the_shops else LABEL | {"sender": party}
