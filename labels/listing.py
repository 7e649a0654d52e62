"""The list of a shop's labels: its filters, and the rows that they select."""

# ruff: noqa: N815 - the public names are camelCase

from typing import Any, Final

from labels.models import ShippingLabel, ShippingLabelQuerySet
from labels.serializers import CARRIER_CODES, MAX_REFERENCE_LENGTH
from shops.api.cursors import PageSerializer
from shops.api.query_fields import MomentParameter, TextParameter
from shops.api.serializer_fields import ChoiceField

MAX_NUMBER_LENGTH: Final = 64
COLUMNS: Final = (
    *("id", "shop_id", "order_id", "carrier_code", "product_code", "reference", "state", "created_at"),
    *("tracking_numbers", "weights_kg", "parcel_references", "warnings"),
)


class LabelQuerySerializer(PageSerializer):
    """The query of the list; all filters that are given apply."""

    orderId = TextParameter(source="order_id", max_length=255)
    reference = TextParameter(max_length=MAX_REFERENCE_LENGTH)
    trackingNumber = TextParameter(source="tracking_number", max_length=MAX_NUMBER_LENGTH)
    carrierCode = ChoiceField(CARRIER_CODES, source="carrier_code", required=False)
    createdFrom = MomentParameter(source="created_at__gte")
    createdTo = MomentParameter(source="created_at__lt", is_end=True)


def rows(*, shop_id: str, filters: dict[str, Any]) -> ShippingLabelQuerySet:
    others = {name: value for name, value in filters.items() if name != "tracking_number"}
    found: ShippingLabelQuerySet = ShippingLabel.objects.for_shop(shop_id).generated().filter(**others).only(*COLUMNS)
    number = filters.get("tracking_number")
    if number is None:
        return found
    # A carrier's number has letters and digits; SQLite compares it with the list's text.
    is_number = number.isascii() and number.isalnum()
    return found.with_tracking_number(number) if is_number else found.none()
