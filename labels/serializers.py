"""A label as it is ordered, and as it is answered."""

# ruff: noqa: N815 - the public names are camelCase

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from math import ceil
from typing import Any

from rest_framework import serializers

from carriers import CARRIERS, order_table
from carriers.products import PRODUCTS
from carriers.shipment import LABEL_FORMATS
from labels.models import LabelState, ShippingLabel
from labels.order_rules import (
    MAX_ITEMS,
    MAX_PARCELS,
    MAX_QUANTITY,
    MAX_WEIGHT_KG,
    day_in,
    facts_in,
    late_faults,
    order_faults,
)
from shops.api import request_body
from shops.api.field_faults import Fault, add_fault
from shops.api.serializer_fields import (
    AmountField,
    BooleanField,
    ChoiceField,
    CodeField,
    DateField,
    IntegerField,
    ObjectSerializer,
    StringField,
    TextField,
)
from shops.contracts.addresses import AddressSerializer, CountryField, check_email
from shops.contracts.terms import HS_CODE
from shops.webhooks.models import iso

MAX_SIDE_CM = 300
MAX_INSURED_EUR = 20_000
MAX_CUSTOMS_EUR = 1_000_000
SIDES = ("length", "width", "height")
CARRIER_CODES = tuple(CARRIERS)
PRODUCT_CODES = tuple(PRODUCTS)
MAX_REFERENCE_LENGTH = max(carrier.max_reference_length for carrier in CARRIERS.values())


class OrderedParcelSerializer(ObjectSerializer):
    weight = AmountField(max_value=MAX_WEIGHT_KG, unit="kilograms")
    length = AmountField(max_value=MAX_SIDE_CM, unit="centimetres", required=False)
    width = AmountField(max_value=MAX_SIDE_CM, unit="centimetres", required=False)
    height = AmountField(max_value=MAX_SIDE_CM, unit="centimetres", required=False)
    reference = StringField(required=False, max_length=MAX_REFERENCE_LENGTH)


class RecipientSerializer(AddressSerializer):
    """A postal address that parcels go to."""

    email = StringField(required=False, default="", max_length=80, validators=[check_email])
    provinceCode = CodeField("[A-Za-z]{2}", "the two letters of a state or province", required=False, max_length=2)
    instructions = StringField(required=False)

    def validate_provinceCode(self, code: str) -> str:  # noqa: N802 - DRF's name for it
        return code.upper()


class CustomsItemSerializer(ObjectSerializer):
    description = TextField(max_length=64)
    quantity = IntegerField(min_value=1, max_value=MAX_QUANTITY)
    unitValue = AmountField(max_value=MAX_CUSTOMS_EUR, unit="euros")
    hsCode = CodeField(HS_CODE.pattern, "6, 8 or 10 digits", required=False, default="", max_length=10)
    originCountry = CountryField(required=False, default="")
    weight = AmountField(max_value=MAX_WEIGHT_KG, unit="kilograms")
    parcel = IntegerField(min_value=0, max_value=MAX_PARCELS - 1, required=False)


class CustomsSerializer(ObjectSerializer):
    """The customs declaration of a whole order, as it is kept on the label's row too."""

    items = CustomsItemSerializer(many=True, min_length=1, max_length=MAX_ITEMS)  # type: ignore[call-arg]  # the array's
    shippingCost = AmountField(max_value=MAX_CUSTOMS_EUR, unit="euros", required=False, default=None)
    invoiceNumber = StringField(required=False, default="", max_length=35)
    eori = CodeField(
        "[A-Z]{2}[0-9A-Za-z .-]{1,38}",
        "an EORI number, which begins with the two letters of its country",
        required=False,
        default="",
        max_length=40,
    )
    dutiesPaidBySender = BooleanField(required=False, default=False)
    comments = StringField(required=False, default="", max_length=200)


class LabelOrderSerializer(ObjectSerializer):
    """The body of a label order, whose fields are columns of the label's row; every fault in it is reported at once."""

    orderId = TextField(source="order_id", max_length=255)
    carrierCode = ChoiceField(CARRIER_CODES, source="carrier_code")
    productCode = ChoiceField(PRODUCT_CODES, source="product_code")
    reference = StringField(required=False, default="")
    pickupPointCode = StringField(source="pickup_point_code", required=False, default="")
    shipDate = DateField(source="ship_on", required=False)
    insuredValue = AmountField(source="insured_value_eur", max_value=MAX_INSURED_EUR, unit="euros", required=False)
    labelFormat = ChoiceField(LABEL_FORMATS, source="label_format", required=False)
    originAddress = AddressSerializer(source="sender", required=False)
    destinationAddress = RecipientSerializer(source="recipient")
    # No more are read than any carrier takes: a body of 1 MiB has room for a hundred thousand.
    parcels = OrderedParcelSerializer(many=True, min_length=1, max_length=MAX_PARCELS)  # type: ignore[call-arg]  # the array's
    customs = CustomsSerializer(required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values = super().to_internal_value(data)
        parcels = values.pop("parcels")
        sides = [[ceil(Decimal(parcel[side])) if side in parcel else None for side in SIDES] for parcel in parcels]
        references = [parcel.get("reference", "") for parcel in parcels]
        return values | {
            "weights_kg": [parcel["weight"] for parcel in parcels],
            # Empty where no parcel has any.
            "sides_cm": sides if any(map(any, sides)) else [],
            "parcel_references": references if any(references) else [],
        }

    def validate_insuredValue(self, text: str) -> Decimal:  # noqa: N802 - DRF's name for it
        euros = Decimal(text)
        if euros != round(euros, 2):
            raise serializers.ValidationError("must have at most two decimals.")
        return euros

    def rule_faults(self, data: dict[str, Any]) -> Iterator[Fault]:
        return order_faults(data)


# Built once, as that takes as long as reading an order; it is given no data and no context.
READER = LabelOrderSerializer()


def read_order(body: Any, *, sender_address: dict[str, str] | None) -> dict[str, Any]:
    """Return a valid body's values; raise ValidationError with every fault.

    What a replay is not refused for is a fault of the purchase, and here only along with others.
    """
    try:
        values: dict[str, Any] = READER.run_validation(body)
    except serializers.ValidationError as error:
        if isinstance(body, dict):
            product, has_sender = facts_in(body).product, "originAddress" in body or sender_address is not None
            for path, text in late_faults(product, day_in(body.get("shipDate")), has_sender=has_sender):
                add_fault(error.detail, [path], text)  # type: ignore[arg-type]  # of an object it is a dict
        raise
    return values


def ignored_header(
    body: Any, *, sender_address: dict[str, str] | None, crosses_border: bool | None = None
) -> dict[str, str]:
    """Return the header that names the fields of an order's body that are unknown or not needed, if there are any.

    `crosses_border` is given where the place of the order's pickup point is known.
    """
    if not isinstance(body, dict):
        return request_body.ignored_header(body, READER)
    facts = facts_in(body, sender_address)
    if crosses_border is not None:
        facts = replace(facts, crosses_border=crosses_border)
    return request_body.ignored_header(body, READER, order_table.needed_by(facts))


def as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def label_answer(label: ShippingLabel) -> dict[str, Any]:
    """Return a label as a shop sees it; the view adds the URL that it signs."""
    return {
        "id": label.id,
        "shopId": label.shop_id,
        "orderId": label.order_id,
        "carrierCode": label.carrier_code,
        "productCode": label.product_code,
        "trackingNumber": label.tracking_number,
        "labelUrl": None,
        "weight": as_number(label.weight_kg),
        "status": label.state,
        "createdAt": iso(label.created_at),
    }


def listed_answer(label: ShippingLabel) -> dict[str, Any]:
    """Return a label of a list: without a URL, and with what its order and its carrier said."""
    facts = label_answer(label)
    del facts["labelUrl"]
    own = label.parcel_references or [""] * len(label.weights_kg)
    parcels = [
        {"trackingNumber": number, "weight": as_number(Decimal(weight)), "reference": reference or None}
        for number, weight, reference in zip(label.tracking_numbers, label.weights_kg, own, strict=False)
    ]
    return facts | {"reference": label.reference or None, "parcels": parcels, "warnings": label.warnings}


def cancellation_answer(label: ShippingLabel) -> dict[str, Any]:
    is_over = label.state == LabelState.CANCELLED
    status = "cancelled" if is_over else "cancelling"
    return {"id": label.id, "status": status, "trackingNumbers": label.tracking_numbers}
