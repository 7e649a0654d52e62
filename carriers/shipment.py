"""Orders for a label, and the labels that come back.

No `repr` here shows a name, an address or a secret: these objects appear in tracebacks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Final

LABEL_FORMATS: Final = ("10x15", "A4")  # the first by default
DEFAULT_FORMAT: Final = LABEL_FORMATS[0]


@dataclass(frozen=True, repr=False)
class Party:
    """A sender or a recipient.

    `phone` is E.164, `email` at most 80 characters of ASCII, `country_code` ISO 3166-1 alpha-2, as the order's own
    rules have seen to; unknown values are empty. `province_code` is the two letters of a state or province.
    """

    first_name: str
    last_name: str
    address1: str
    zip_code: str
    city: str
    country_code: str
    company: str = ""
    address2: str = ""
    phone: str = ""
    email: str = ""
    province_code: str = ""

    def __repr__(self) -> str:
        return f"Party(country_code={self.country_code!r}, ...)"

    @property
    def person(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}".strip()


@dataclass(frozen=True)
class Package:
    """One physical parcel of a shipment; the sides are whole centimetres, if known.

    `reference` is printed on this parcel in place of the shipment's.
    """

    weight_kg: Decimal
    length_cm: int | None = None
    width_cm: int | None = None
    height_cm: int | None = None
    reference: str = field(default="", repr=False)


@dataclass(frozen=True)
class CustomsItem:
    """Goods declared to customs: value and weight are those of one piece.

    Without `weight_kg` the pieces share their parcel's weight. Without `origin_country_code` the goods come from the
    sender's country. `parcel` is the index of the parcel that holds them; of one declaration all items have it or none.
    """

    description: str
    quantity: int
    unit_value_eur: Decimal
    weight_kg: Decimal | None = None
    hs_code: str = ""
    origin_country_code: str = ""
    parcel: int | None = None


@dataclass(frozen=True)
class Customs:
    """A shipment's customs declaration.

    The items are laid into the parcels; those of `is_for_each_parcel` are declared with every parcel.
    `shipping_cost_eur` is the postage.
    """

    items: tuple[CustomsItem, ...]
    is_for_each_parcel: bool = False
    shipping_cost_eur: Decimal = Decimal("0.01")
    invoice_number: str = ""
    eori: str = ""
    comments: str = ""
    is_duties_paid_by_sender: bool = False


@dataclass(frozen=True)
class PickupPoint:
    """The place where the recipient collects the parcel, as the carrier's point service describes it.

    `closures` are the first and last days of the periods in which it is closed. `type_code` is the carrier's own kind,
    `distance_m` that from the place of a search, `opening_hours` the spans of each day from Monday on, in local time;
    None is unknown.
    """

    code: str
    name: str = field(default="", repr=False)
    address1: str = field(default="", repr=False)
    address2: str = field(default="", repr=False)
    address3: str = field(default="", repr=False)
    zip_code: str = field(default="", repr=False)
    city: str = field(default="", repr=False)
    country_code: str = ""
    network: str = ""
    max_weight_kg: Decimal | None = None
    is_open: bool = True
    closures: tuple[tuple[date, date], ...] = ()
    kind: str = "relay"  # or locker, post_office
    type_code: str = ""
    latitude: float | None = None
    longitude: float | None = None
    distance_m: int | None = None
    opening_hours: tuple[tuple[tuple[str, str], ...], ...] | None = None

    def is_open_on(self, day: date) -> bool:
        return self.is_open and not any(first <= day <= last for first, last in self.closures)


@dataclass(frozen=True)
class Credentials:
    """A shop's account with one carrier: its number, and a password or (beta) an API key.

    `parent_account_number` is that of the account which this one is under (beta). `shop_id` is sent nowhere: failures
    of one shop alone open no circuit breaker for the others.
    """

    account_number: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    parent_account_number: str = field(default="", repr=False)
    shop_id: str = field(default="", compare=False)

    @property
    def values(self) -> tuple[str, ...]:
        """All values that must never be shown."""
        return tuple(filter(None, (self.account_number, self.password, self.api_key, self.parent_account_number)))


@dataclass(frozen=True)
class CredentialsShape:
    """The form of a carrier's credentials, so that a mistyped one is refused when it is set up."""

    account_number: re.Pattern[str]
    password: re.Pattern[str]
    meaning: str
    takes_api_key: bool
    takes_parent: bool


@dataclass(frozen=True)
class ProductOverride:
    """A contract's own product code, and perhaps service and `as` (alpha), in place of the catalogue's."""

    carrier_code: str
    service: str = ""
    as_code: str = ""


@dataclass(frozen=True)
class Shipment:
    """Everything a carrier needs to make one label.

    `id` is the reference that the carrier stores, at most 15 upper-case letters and digits; `reference` is free text
    that it prints. `ship_on` is the day, in Europe/Paris, that the parcels are handed in on; None is the day of the
    call. `instructions` are words to the driver, `insured_value_eur` is that of each parcel, `label_format` is `10x15`
    or `A4`.

    The order's own rules hold: a product of the carrier, codes of countries, as many parcels as it takes, of a weight
    that the product has, and a point's code of the carrier's form where the product goes to one.
    """

    id: str
    product_code: str
    sender: Party
    recipient: Party
    packages: tuple[Package, ...]
    reference: str = field(default="", repr=False)
    pickup_point_code: str = ""
    commercial_name: str = field(default="", repr=False)
    customs: Customs | None = None
    override: ProductOverride | None = None
    ship_on: date | None = None
    instructions: str = field(default="", repr=False)
    insured_value_eur: Decimal | None = None
    label_format: str = DEFAULT_FORMAT


@dataclass(frozen=True)
class PurchasedLabel:
    """A label that exists at the carrier: a tracking number for each package, in their order, and the PDFs.

    Of one that failed it is what exists and came all the same. `pdfs` are in the order of their pages, by name: a
    parcel's number or, after all labels, its customs form's name. `reservation_number` fetches the PDF again (alpha).
    `warnings` are the carrier's texts, redacted. `pickup_point` is where the parcels go, for a pickup product.
    """

    tracking_numbers: tuple[str, ...] = ()
    pdfs: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    reservation_number: str = ""
    is_customs_form_missing: bool = False
    pickup_point: PickupPoint | None = None


NOTHING_MADE: Final = PurchasedLabel()


def form_of(tracking_number: str) -> str:
    """Return the name of the PDF with a parcel's customs form."""
    return f"{tracking_number}-customs-form"


@dataclass(frozen=True)
class DepositSlip:
    """A list of parcels that the carrier takes over together: its number, when it was published, and its PDF."""

    number: str
    published_at: datetime | None
    pdf: bytes = field(repr=False)
