"""Shipments, credentials and clients for tests."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from carriers import CARRIERS
from carriers.base import Carrier, Endpoint
from carriers.client import Limits
from carriers.http.transport import Transport
from carriers.products import PRODUCTS
from carriers.shipment import Credentials, Customs, CustomsItem, Package, Party, Shipment

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SATURDAY_IN_PARIS = datetime(2026, 3, 6, 23, 30, tzinfo=UTC)  # still Friday in London
ALPHA_CONTRACT = [("accountNumber", "19869502"), ("password", "255562")]  # as its messages have it
CREDENTIALS = {"alpha": Credentials("19869502", "255562"), "beta": Credentials("804735", "s3cret-Pass")}
BOTH = pytest.mark.parametrize("carrier", CARRIERS)
PRODUCT = {"alpha": "alpha-13", "beta": "beta"}  # one without special rules for each carrier
LENIENT = Limits(timeout_s=60.0, failure_threshold=10**9)

SENDER = Party(
    first_name="Zoé",
    last_name="Lefèvre",
    company="Bougies & Cie",
    address1="3 rue de l'Église",
    zip_code="69002",
    city="Lyon",
    country_code="FR",
    phone="+33472001122",
    email="atelier@shop.example",
)
RECIPIENT = Party(
    first_name="Søren",
    last_name="Grünwald",
    address1="128 boulevard Œdipe",
    address2="Bâtiment C",
    zip_code="75011",
    city="Paris",
    country_code="FR",
    phone="+33699001122",
    email="soren@mail.example",
)
CUSTOMS = Customs(
    (CustomsItem("Bougies", 1, Decimal("12.50"), hs_code="340600"),), is_for_each_parcel=True, eori="FR33890120700017"
)
# A destination that each product serves, where it is not France.
DESTINATIONS = {
    "alpha_rapide_eco": "DE",
    "alpha_express_world": "US",
    "alpha_relais_europe_outre_mer": "BE",
    "beta_domicile_signature_europe": "DE",
    "beta_domicile_sans_signature_europe": "BE",
    "beta_point_retrait_europe": "ES",
    "beta_domicile_signature_outre_mer": "RE",
    "beta_domicile_sans_signature_outre_mer": "GP",
    "beta_domicile_signature_monde": "US",
}
POINTS = {"alpha": "1234A", "beta": "001234"}


def shipment(product_code: str = "alpha-13", count: int = 1, **changes: Any) -> Shipment:
    """Return a shipment that fits the product; `recipient` and `sender` may be dicts of changes."""
    product = PRODUCTS[product_code]
    recipient = {"country_code": DESTINATIONS.get(product_code, "FR")} | changes.pop("recipient", {})
    if recipient["country_code"] == "US":
        recipient = {"province_code": "NY"} | recipient
    if recipient["country_code"] == "BE" and product.carrier == "beta":
        recipient = {"phone": "+32470112233"} | recipient
    sender = changes.pop("sender", {})
    values: dict[str, Any] = {
        "id": "01JQ5ZK3M9X7ABC",
        "product_code": product_code,
        "sender": Party(**vars(SENDER) | sender),
        "recipient": Party(**vars(RECIPIENT) | recipient),
        "packages": tuple(Package(Decimal("1.25") + rank) for rank in range(count)),
        "reference": "CMD 4711",
        "pickup_point_code": POINTS[product.carrier] if product.needs_pickup_point else "",
        "customs": CUSTOMS,
    }
    return Shipment(**values | changes)


def client(
    carrier: str,
    url: str,
    limits: Limits = LENIENT,
    transport: Transport | None = None,
    tracking_url: str | None = None,
    points_url: str | None = None,
) -> Carrier:
    return CARRIERS[carrier](Endpoint(url, tracking_url, points_url), limits, transport)
