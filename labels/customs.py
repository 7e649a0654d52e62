"""An order's own customs declaration, as it is read and kept on the label's row."""

# ruff: noqa: N815 - the public names are camelCase

from shops.api.serializer_fields import (
    AmountField,
    BooleanField,
    CodeField,
    IntegerField,
    ObjectSerializer,
    StringField,
    TextField,
)
from shops.contracts.addresses import CountryField

MAX_ITEMS = 100  # that beta takes of a parcel
MAX_QUANTITY = 999
MAX_EUR = 1_000_000
MAX_WEIGHT_KG = 30
LAST_PARCEL = 98  # by its index: no order has more parcels


class CustomsItemSerializer(ObjectSerializer):
    description = TextField(max_length=64)
    quantity = IntegerField(min_value=1, max_value=MAX_QUANTITY)
    unitValue = AmountField(max_value=MAX_EUR, unit="euros")
    hsCode = CodeField("[0-9]{6}([0-9]{2}){0,2}", "6, 8 or 10 digits", required=False, default="", max_length=10)
    originCountry = CountryField(required=False, default="")
    weight = AmountField(max_value=MAX_WEIGHT_KG, unit="kilograms")
    parcel = IntegerField(min_value=0, max_value=LAST_PARCEL, required=False)


class CustomsSerializer(ObjectSerializer):
    """The customs declaration of a whole order."""

    items = CustomsItemSerializer(many=True, min_length=1, max_length=MAX_ITEMS)  # type: ignore[call-arg]  # the array's
    shippingCost = AmountField(max_value=MAX_EUR, unit="euros", required=False, default=None)
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
