"""Every product to every kind of destination, bought or refused as the carriers' pages say."""

import io
from collections.abc import Mapping
from decimal import Decimal
from itertools import product as combinations
from typing import Final

import pypdf
import pytest

from carriers.errors import Rejected
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Customs, CustomsItem
from tests.carriers.conftest import Clients
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.pdfs import merged
from tests.carriers.support.sandbox import order, reset
from tests.carriers.support.shipments import CREDENTIALS

# Copied from the pages by hand. A country stands for its kind: FR domestic, BE in the EU, CH outside it, RE overseas.
SERVED: Final[Mapping[str, str]] = {
    "alpha-18": "FR",
    "alpha-13": "FR",
    "alpha_jour_j": "FR",
    "alpha_rapide_eco": "FR BE CH",
    "alpha_express_world": "FR BE CH RE",
    "relais": "FR",
    "alpha_relais_europe_outre_mer": "FR BE RE",  # no point in CH
    "shop2shop": "FR",
    "alpha_2shopdirect": "FR",
    "beta": "FR BE CH RE",
    "beta_domicile_signature_france": "FR",
    "beta_domicile_sans_signature_france": "FR",
    "beta_point_retrait_france": "FR",
    "beta_domicile_signature_europe": "BE CH",
    "beta_domicile_sans_signature_europe": "BE CH",
    "beta_point_retrait_europe": "BE",
    "beta_domicile_signature_outre_mer": "RE",
    "beta_domicile_sans_signature_outre_mer": "RE",
    "beta_domicile_signature_monde": "BE CH",
}
NEEDING_CUSTOMS: Final = {"CH", "RE"}
FORM_PAGES: Final = {"alpha": 0, "beta": 4}  # of each parcel's customs form

BOUGHT, NOT_SERVED, UNDECLARED = "B", "P", "C"
LETTERS: Final = {
    "destinationAddress.countryCode": NOT_SERVED,
    "productCode": NOT_SERVED,
    "pickupPointCode": NOT_SERVED,
    "customs": UNDECLARED,
}
GOODS: Final = Customs(
    (CustomsItem("Bougies", 3, Decimal(12), Decimal("0.2"), "340600"),), shipping_cost_eur=Decimal(9)
)
Case = tuple[str, int, bool]  # country, parcels, with customs
CASES: Final[tuple[Case, ...]] = tuple(combinations(("FR", "BE", "CH", "RE"), (1, 3), (False, True)))


def expected(code: str, case: Case) -> set[str]:
    """Return the outcome that the rules give; of two reasons for a refusal either may be told."""
    country, _, has_customs = case
    reasons = {NOT_SERVED} if country not in SERVED[code].split() else set()
    if country in NEEDING_CUSTOMS and not has_customs:
        reasons.add(UNDECLARED)
    return reasons or {BOUGHT}


def outcome(sandbox: SandboxServer, clients: Clients, code: str, case: Case) -> str:
    """Order, and return the outcome's letter; what was made is compared with what the carrier sold."""
    (country, count, has_customs), carrier = case, PRODUCTS[code].carrier
    reset(sandbox)
    shipment = order(code, count, recipient={"country_code": country}, customs=GOODS if has_customs else None)
    try:
        label = clients[carrier].create_label(shipment, CREDENTIALS[carrier])
    except Rejected as error:
        assert ledger(sandbox) == []
        return LETTERS[error.field]
    forms = count * FORM_PAGES[carrier] if country in NEEDING_CUSTOMS else 0
    assert [row["tracking_number"] for row in ledger(sandbox)] == list(label.tracking_numbers)
    assert len(label.tracking_numbers) == count
    assert len(pypdf.PdfReader(io.BytesIO(merged(label))).pages) == count + forms
    return BOUGHT


@pytest.mark.parametrize("code", SERVED)
def test_a_product_is_bought_or_refused_as_the_pages_say(sandbox: SandboxServer, clients: Clients, code: str) -> None:
    outcomes = {case: outcome(sandbox, clients, code, case) for case in CASES}
    assert {case: letter for case, letter in outcomes.items() if letter not in expected(code, case)} == {}


def test_the_rules_are_of_all_products() -> None:
    assert set(SERVED) == set(PRODUCTS)
    assert all(SERVED.values())
