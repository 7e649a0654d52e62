"""The facts of one parcel's label request, as its validation and its papers read them."""

from decimal import Decimal

from carriers.sandbox.beta.accounts import account_names
from carriers.sandbox.beta.tables import PICKUP_CODES
from carriers.sandbox.http import Json
from carriers.sandbox.pickup_points import folded, point_of

# Of the request's `fields`, pairs of a documented key and a value: those that link parcels, one request each.
LINK_KEYS = TYPE, RANK, COUNT, FOLLOWERS = (
    "TYPE_MULTI_PARCEL", "PARCEL_ITERATION_NUMBER", "TOTAL_NUMBER_PARCEL", "LIST_FOLLOWER_PARCEL",
)  # fmt: skip
EORI, FORM_FORMAT, ACCOUNT_NUMBER = "EORI", "OUTPUT_PRINT_TYPE_CN23", "ACCOUNT_NUMBER"
SIZE_KEYS = ("LENGTH", "WIDTH", "HEIGHT")
# Words of the shop's own for its label and the carrier's portal; the addressee's EORI number, which is spelled twice.
FREE_KEYS = ("PRINT_CUSTOMER_LABEL", "CUSTOMER_LABEL", "CUSER_INFO_TEXT", "EORI_ADRESSEE", "EORI_ADDRESSEE")
KEYS = frozenset({*LINK_KEYS, *SIZE_KEYS, *FREE_KEYS, EORI, FORM_FORMAT, ACCOUNT_NUMBER})


def read_fields(body: Json) -> dict[str, str]:
    return {pair.get("key", ""): pair.get("value", "") for pair in body["fields"].get("field", [])}


class Order:
    """A request's blocks, each present and maybe empty, and what they say together."""

    def __init__(self, body: Json, api_key: str) -> None:
        letter = body["letter"]
        self.body, self.letter, self.fields = body, letter, read_fields(body)
        self.service, self.parcel, self.declarations = (
            letter["service"],
            letter["parcel"],
            letter["customsDeclarations"],
        )
        self.sender, self.addressee = letter["sender"]["address"], letter["addressee"]["address"]
        self.accounts = account_names(body.get("contractNumber", ""), api_key, self.fields.get(ACCOUNT_NUMBER, ""))
        self.code: str = self.service.get("productCode", "")
        self.origin: str = self.sender.get("countryCode", "")
        self.country: str = self.addressee.get("countryCode", "")
        self.articles = self.declarations["contents"].get("article", [])
        self.form_format = self.fields.get(FORM_FORMAT, "PDF_A4_300dpi")
        self.is_declared = self.declarations.get("includeCustomsDeclarations", False)
        self.is_pickup = self.code in PICKUP_CODES
        self.point = point_of("beta", self.parcel.get("pickupLocationId", "")) if self.is_pickup else None
        # The parcel's rank among those it is linked with, and the numbers that a master names.
        self.is_linked = not self.fields.keys().isdisjoint(LINK_KEYS)
        self.rank = _small_number(self.fields.get(RANK, "")) if self.is_linked else 1
        self.count = _small_number(self.fields.get(COUNT, "")) if self.is_linked else 1
        self.followers = self.fields[FOLLOWERS].split("/") if FOLLOWERS in self.fields else []

    def sum_of(self, name: str) -> Decimal:
        """Return the weight or the value of all articles."""
        return sum((each.get(name, 0) * each.get("quantity", 1) for each in self.articles), Decimal())

    @property
    def misrouted_by(self) -> tuple[str, ...]:
        """The addressee's fields that are not the pickup point's own: the carrier prints them all the same."""
        address, point = self.addressee, self.point
        if point is None:
            return ()
        pairs = {
            "companyName": (address.get("companyName", ""), point.name),
            "line2": (address.get("line2", "") + address.get("line3", ""), point.address1 + point.address2),
            "zipCode": (address.get("zipCode", ""), point.zip_code),
            "city": (address.get("city", ""), point.city),
            "countryCode": (address.get("countryCode", ""), point.country),
        }
        return tuple(name for name, (sent, own) in pairs.items() if folded(sent) != folded(own))


def _small_number(text: str) -> int:
    """Return a number of one digit, or 0, which is no parcel's rank."""
    return int(text) if len(text) == 1 and text in "0123456789" else 0
