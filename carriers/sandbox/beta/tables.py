"""beta's published tables, as the sandbox reads them: the request's shape, destinations, error codes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from carriers.sandbox.countries import COUNTRIES, codes

if TYPE_CHECKING:
    from carriers.sandbox.label import PageFormat

NUMBER = (int, Decimal)
_ADDRESS_FIELDS = "companyName lastName firstName line0 line1 line2 line3 city zipCode countryCode"
_CONTACT_FIELDS = "phoneNumber mobileNumber email"
ADDRESS: dict[str, Any] = dict.fromkeys(codes(f"{_ADDRESS_FIELDS} {_CONTACT_FIELDS}"), str)
ARTICLE: dict[str, Any] = {
    "description": str, "quantity": int, "weight": NUMBER, "value": NUMBER, "hsCode": str,
    "originCountry": str, "currency": str,
}  # fmt: skip
# The whole request: a type, a block, or a list of one kind of block.
REQUEST: dict[str, Any] = {
    "contractNumber": str,
    "password": str,
    "outputFormat": {"x": int, "y": int, "outputPrintingType": str},
    "letter": {
        "service": {
            "productCode": str, "depositDate": str, "orderNumber": str, "commercialName": str,
            "totalAmount": int, "returnTypeChoice": int,
        },
        "parcel": {"weight": NUMBER, "pickupLocationId": str, "instructions": str},
        "sender": {"senderParcelRef": str, "address": ADDRESS},
        "addressee": {"addresseeParcelRef": str, "address": ADDRESS},
        "customsDeclarations": {
            "includeCustomsDeclarations": bool,
            "contents": {"article": [ARTICLE], "category": {"value": int}},
        },
    },
    "fields": {"field": [{"key": str, "value": str}]},
}  # fmt: skip

# The lengths to which the carrier cuts text, with a warning.
LONGEST_SERVICE = {"orderNumber": 30, "commercialName": 35}
LONGEST_REFERENCE = 15
LONGEST_ADDRESS = {
    "companyName": 35, "lastName": 35, "firstName": 29, "line0": 35, "line1": 35, "line2": 35, "line3": 35,
    "city": 35,
}  # fmt: skip
LONGEST_DESCRIPTION = 64
LIGHTEST_KG, HEAVIEST_KG = Decimal("0.01"), Decimal("30.00")
MOST_PARCELS = 4
CATEGORIES = range(1, 7)  # of a customs declaration; 3 is commercial
RETURN_CHOICES = (2, 3)
FORMATS: dict[str, PageFormat] = {"PDF_A4_300dpi": "A4", "PDF_10x15_300dpi": "10x15"}


@dataclass(frozen=True)
class Destination:
    """The product codes served to a group of countries, and their need of customs declarations."""

    home: frozenset[str]
    home_signed: frozenset[str]
    pickup: frozenset[str]
    is_customs: bool


def _destination(home: str, home_signed: str, pickup: str, *, is_customs: bool) -> Destination:
    return Destination(codes(home), codes(home_signed), codes(pickup), is_customs)


_PICKUP_EUROPE = "HD CMT BDP PCS"
_WORLD = _destination("", "DOS COLI", "", is_customs=True)
_GROUPS = (
    ("FR MC", _destination("DOM", "DOS", "HD BPR A2P", is_customs=False)),
    ("AD CH", _destination("DOM", "DOS", "", is_customs=True)),
    ("BE", _destination("DOM", "DOS", _PICKUP_EUROPE, is_customs=False)),
    (
        "DE LU NL AT ES IE IT PT CZ DK EE HU LT LV PL SE SI SK FI",
        _destination("", "DOS", _PICKUP_EUROPE, is_customs=False),
    ),
    ("BG CY GR HR MT RO", _destination("", "DOS", "", is_customs=False)),
    ("BL GF GP MQ PM RE YT NC PF TF WF", _destination("COM", "CDS", "", is_customs=True)),
)
DESTINATIONS = dict.fromkeys(COUNTRIES, _WORLD) | {
    country: destination for countries, destination in _GROUPS for country in codes(countries)
}
PICKUP_CODES = codes("HD BPR A2P CMT BDP PCS")
PRODUCTS = {
    "DOM": "Home, without signature", "DOS": "Home, with signature", "COM": "Overseas, without signature",
    "CDS": "Overseas, with signature", "COLI": "Worldwide, with signature",
    **dict.fromkeys(PICKUP_CODES, "Pickup point"),
}  # fmt: skip

_MEANINGS = (
    (30000, 30000, "Wrong credentials"),
    (30007, 30007, "The contract is inactive"),
    (30008, 30008, "The service is not allowed for this login"),
    (30009, 30009, "The product is not on the contract"),
    (30002, 30002, "The deposit date is in the past"),
    (30010, 30010, "The deposit date is wrong"),
    (30014, 30015, "The product code is unknown"),
    (30018, 30018, "The commercial name is missing"),
    (30100, 30109, "The sender's address is wrong"),
    (30200, 30202, "The recipient's name is missing"),
    (30204, 30212, "The recipient's address is wrong"),
    (30213, 30213, "The product does not go to this country"),
    (30220, 30221, "The recipient's mobile number is missing or wrong"),
    (30222, 30223, "The recipient's e-mail is missing or wrong"),
    (30300, 30301, "The weight is missing or wrong"),
    (30318, 30318, "The product is not possible"),
    (30400, 30403, "The pickup point is missing or wrong"),
    (30500, 30562, "The customs declaration is missing or wrong"),
    (30600, 30600, "A character is forbidden"),
    (30700, 30700, "The product is not on the contract"),
    (30900, 30904, "The pickup point is not served"),
)


def meaning_of(code: str) -> str:
    """Return an error code's text; the carrier's own failures and undocumented codes share one."""
    if code.isdigit():
        for first, last, text in _MEANINGS:
            if first <= int(code) <= last:
                return text
    return "The service is temporarily unavailable"
