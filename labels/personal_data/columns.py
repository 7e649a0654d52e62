"""The columns of labels and deposit slips that hold customers' data."""

from collections.abc import Mapping
from typing import Final

from django.db.models import Model
from django.utils.translation import gettext

from labels.models import DepositSlip, ShippingLabel
from shops.api.errors.coded import CODES
from shops.personal_data import Beside, Columns, Each, Kind, Members, Part, Value, named


def standard(label: Beside) -> str:
    """Word a refusal by our table of errors, in the reader's language."""
    code = label.get("error_code", "")
    return gettext(CODES[code].cause) if code in CODES else ""


NAME, CONTACT, ADDRESS = Value(Kind.NAME), Value(Kind.CONTACT), Value(Kind.ADDRESS)
TOWN = Value(Kind.ADDRESS, is_masked=False)
TEXT = Value(Kind.FREE_TEXT)
PARTY = Members(
    named("firstName lastName company", NAME)
    | named("address1 address2 zip", ADDRESS)
    | {"city": TOWN, "phone": CONTACT, "email": CONTACT, "instructions": TEXT},
    others=("countryCode", "provinceCode"),
)
ITEM = Members({"description": TEXT}, others="quantity unitValue hsCode originCountry weight parcel".split())
CUSTOMS = Members(
    {"items": Each(ITEM)} | named("invoiceNumber eori comments", TEXT), others=("shippingCost", "dutiesPaidBySender")
)

LABEL: Final[dict[str, Part]] = {
    "recipient": PARTY,
    "sender": PARTY,
    "reference": TEXT,
    "parcel_references": Value(Kind.FREE_TEXT, ()),
    "customs": CUSTOMS,
    "pickup_point_code": TOWN,
    "pickup_point": Value(Kind.ADDRESS, None, is_masked=False),
    "error_message": Value(Kind.CARRIER_TEXT, standard=standard),
    "warnings": Value(Kind.CARRIER_TEXT, ()),
    "search_words": Value(Kind.SEARCH),
}
# What an erasure leaves alone for a day, so that a repeated request does not buy again.
KEYS: Final[dict[str, Value]] = {
    "idempotency_key": Value(Kind.KEY, None),
    "body_digest": Value(Kind.KEY),
}
REFUSAL: Final = Value(Kind.CARRIER_TEXT, "Refused: the carrier's text is erased.")
PDF: Final[dict[str, Part]] = {"pdf": Value(Kind.DOCUMENT, None)}

COLUMNS: Final[Mapping[type[Model], Columns]] = {
    ShippingLabel: {**LABEL, **KEYS, **PDF},
    DepositSlip: {"refusal": REFUSAL, **PDF},
}
