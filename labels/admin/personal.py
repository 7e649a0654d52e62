"""The personal columns of one label."""

from collections.abc import Mapping

from labels.models import ShippingLabel
from labels.personal_data.columns import KEYS, LABEL
from shops.personal_data import Part

MASKED: Mapping[str, Part] = {**LABEL, **KEYS}
WITHOUT_SENDER = {name: part for name, part in MASKED.items() if name != "sender"}


def columns_of(label: ShippingLabel) -> Mapping[str, Part]:
    """Return the columns to mask; a sender other than the shop may be a customer who returns something."""
    is_the_shops = "sender" in label.__dict__ and label.sender == label.shop.sender_address
    return WITHOUT_SENDER if is_the_shops else MASKED
