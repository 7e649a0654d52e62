"""An order's own customs declaration, as it is read and kept on the label's row."""

# ruff: noqa: N815 - the public names are camelCase

from typing import Any

from shops.api.serializer_fields import (
    AmountField,
    BooleanField,
    CodeField,
    IntegerField,
    ObjectSerializer,
    StringField,
)
from shops.contracts.addresses import CountryField, TextField

MAX_ITEMS = 50
MAX_QUANTITY = 999
MAX_EUR = 1_000_000
MAX_WEIGHT_KG = 30
MAX_LISTED = 99  # neither items nor parcels are ever more


class CustomsItemSerializer(ObjectSerializer):
    description = TextField(max_length=64, help_text="The goods, in words that a customs officer understands.")
    quantity = IntegerField(min_value=1, max_value=MAX_QUANTITY, help_text="The number of pieces.")
    unitValue = AmountField(max_value=MAX_EUR, unit="euros", help_text="The value of one piece in euros.")
    hsCode = CodeField(
        "[0-9]{6}([0-9]{2}){0,2}",
        "6, 8 or 10 digits",
        required=False,
        default="",
        max_length=10,
        help_text="The tariff number of the Harmonized System: 6, 8 or 10 digits; beta needs it.",
    )
    originCountry = CountryField(
        required=False, default="", help_text="Where the goods were made. Left out, it is the sender's country."
    )
    weight = AmountField(max_value=MAX_WEIGHT_KG, unit="kilograms", help_text="The weight of one piece in kilograms.")
    parcel = IntegerField(
        min_value=0,
        max_value=MAX_LISTED - 1,
        required=False,
        help_text="The index, from 0, of the parcel that holds them. All goods of an order have it or none.",
    )


class CustomsSerializer(ObjectSerializer):
    """The customs declaration of a whole order; amounts are kept as decimal text, which is exact."""

    items = CustomsItemSerializer(  # type: ignore[call-arg]  # the array's
        many=True,
        min_length=1,
        max_length=MAX_ITEMS,
        error_messages=dict.fromkeys(("min_length", "max_length"), f"must have 1 to {MAX_ITEMS} elements."),
        help_text="The goods. Those that name no parcel are laid by their weight, so that none is left without.",
    )
    shippingCost = AmountField(
        max_value=MAX_EUR,
        unit="euros",
        required=False,
        default=None,
        help_text="The postage in euros. Left out, it is what the shop's contract declares, or else 0.01.",
    )
    invoiceNumber = StringField(required=False, default="", max_length=35, help_text="The number of your invoice.")
    eori = CodeField(
        "[A-Z]{2}[0-9A-Za-z .-]{1,38}",
        "an EORI number, which begins with the two letters of its country",
        required=False,
        default="",
        max_length=40,
        help_text="The sender's EORI number; beta needs it for the US and where the sender pays the duties. To GB,"
        " from 1,000 EUR of goods: the European and the British one, separated by a space.",
    )
    dutiesPaidBySender = BooleanField(
        required=False,
        default=False,
        help_text="True where the sender pays the duties: beta then needs the parcels' sides, the customer's mobile"
        " number and the EORI number. Refused where the carrier does not offer it.",
    )
    comments = StringField(
        required=False,
        default="",
        max_length=200,
        help_text="Further text for customs: the manufacturer's code for the US, the VAT number for GB.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values = super().to_internal_value(data)
        cost = values["shippingCost"]
        items = [
            item | {"unitValue": str(item["unitValue"]), "weight": str(item["weight"])} for item in values["items"]
        ]
        return values | {"items": items, "shippingCost": None if cost is None else str(cost)}
