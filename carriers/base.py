"""What goes into a carrier and what comes out, and the protocol that every carrier's client fulfils.

Nothing here shows a name, an address or a secret in its `repr`: these objects end up in tracebacks.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from carriers.circuit_breaker import Limits
from carriers.http.transport import Transport
from carriers.observer import Observer

_SHIPMENT_ID = re.compile(r"[A-Z0-9]{1,15}")


@dataclass(frozen=True, repr=False)
class Party:
    """A sender or a recipient; `phone` is E.164, `country_code` ISO 3166-1 alpha-2, the unknown is empty."""

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

    def __repr__(self) -> str:
        return f"Party(country_code={self.country_code!r}, ...)"

    @property
    def person(self) -> str:
        """First and last name in one."""
        return f"{self.first_name} {self.last_name}".strip()


@dataclass(frozen=True)
class Package:
    """One physical parcel of a shipment."""

    weight_kg: Decimal

    def __post_init__(self) -> None:
        """Refuse what only a programming error can bring."""
        if not self.weight_kg.is_finite():
            raise ValueError("a package has a weight")


@dataclass(frozen=True)
class CustomsArticle:
    """Goods declared to customs, for each parcel; without a weight of their own, of the parcel's weight."""

    description: str
    value_eur: Decimal
    hs_code: str
    quantity: int = 1
    weight_kg: Decimal | None = None
    origin_country_code: str = "FR"


@dataclass(frozen=True)
class PickupPoint:
    """Where the recipient fetches the parcel; the name is printed where it is known."""

    code: str
    name: str = field(default="", repr=False)


@dataclass(frozen=True)
class Credentials:
    """A shop's contract with one carrier: account number and password, or (beta) an API key."""

    account_number: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)

    @property
    def values(self) -> tuple[str, ...]:
        """Everything that must never be shown."""
        return tuple(value for value in (self.account_number, self.password, self.api_key) if value)


@dataclass(frozen=True)
class CredentialsShape:
    """What a carrier's credentials look like, so that a mistyped one is refused when it is set up."""

    account_number: re.Pattern[str]
    password: re.Pattern[str]
    meaning: str
    takes_api_key: bool


@dataclass(frozen=True)
class ProductOverride:
    """What a contract replaces of the catalogue's default: the carrier's code, and maybe its service."""

    carrier_code: str
    service: str = ""


@dataclass(frozen=True)
class Shipment:
    """All a carrier needs to make one label.

    `id` is the reference that the carrier keeps, at most 15 upper-case letters and digits; `reference` is the
    free text that it prints. `ship_at` is aware and should be now: carriers refuse a date in the past.
    """

    id: str
    product_code: str
    sender: Party
    recipient: Party
    packages: tuple[Package, ...]
    ship_at: datetime
    reference: str = field(default="", repr=False)
    pickup_point: PickupPoint | None = None
    commercial_name: str = field(default="", repr=False)
    customs: tuple[CustomsArticle, ...] = ()
    override: ProductOverride | None = None

    def __post_init__(self) -> None:
        """Refuse what only a programming error can bring."""
        if not _SHIPMENT_ID.fullmatch(self.id):
            raise ValueError("a shipment's id is at most 15 upper-case letters and digits")
        if self.ship_at.tzinfo is None:
            raise ValueError("a shipment's ship_at is an aware datetime")
        if not self.packages:
            raise ValueError("a shipment has at least one package")


@dataclass(frozen=True)
class PurchasedLabel:
    """A label that exists at the carrier: one number a package and one PDF, both in the packages' order."""

    tracking_numbers: tuple[str, ...]
    pdf: bytes = field(repr=False)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Endpoint:
    """Where a carrier is reached; `tracking_url` only where its parcels can be found again."""

    url: str
    tracking_url: str | None = None


class Carrier(Protocol):
    """A client, built once a process: it holds connections and limits; each call brings its credentials."""

    name: str
    max_parcels: int
    max_reference_length: int
    purchase_operation: str
    pickup_point_code: re.Pattern[str]
    product_code: re.Pattern[str]
    has_services: bool  # whether a product's code goes with that of a service
    max_goods_length: int
    pickup_point_form: str
    credentials_shape: CredentialsShape

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
    ) -> None:
        """With default limits, with connections of its own, and unwatched, unless others are given."""

    @staticmethod
    def check_sender(party: Party) -> None:
        """Raise Rejected where this sender can't be printed."""

    @property
    def is_resting(self) -> bool:
        """Whether the carrier is given a rest after repeated failures."""

    @property
    def can_be_asked(self) -> bool:
        """Whether a shipment can be found by its id after its outcome was unknown."""

    def create_label(self, shipment: Shipment, credentials: Credentials) -> PurchasedLabel:
        """Buy a label; raises CarrierError only."""

    def find_by_reference(self, shipment_id: str, credentials: Credentials) -> tuple[str, ...]:
        """The tracking numbers of the parcels made with this shipment id, none if it knows none."""

    def fetch_label(self, tracking_numbers: tuple[str, ...], credentials: Credentials) -> bytes:
        """The PDF of parcels made before, joined in the order given."""

    def refuse_at_rest(self) -> None:
        """Raise CarrierUnavailable where a call would be refused, as the carrier is given a rest after failures."""
