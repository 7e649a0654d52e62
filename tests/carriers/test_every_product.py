"""Every product to every kind of destination, bought or refused as the carriers' pages say."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import product
from typing import Final

import pytest

from carriers.errors import Rejected
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Customs, CustomsItem
from tests.carriers.conftest import Clients
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.pdfs import merged, sizes
from tests.carriers.support.sandbox import order, reset
from tests.carriers.support.shipments import CREDENTIALS
from tests.support.cases import in_one_test

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
NOT_SERVED: Final = {"destinationAddress.countryCode", "productCode", "pickupPointCode"}  # fields of refusals
GOODS: Final = Customs(
    (CustomsItem("Bougies", 3, Decimal(12), Decimal("0.2"), "340600"),), shipping_cost_eur=Decimal(9)
)


@pytest.mark.parametrize("code", SERVED)
@in_one_test("country, count, customs", product(("FR", "BE", "CH", "RE"), (1, 3), (None, GOODS)))
def test_a_product_is_bought_or_refused_as_the_pages_say(
    sandbox: SandboxServer, clients: Clients, code: str, country: str, count: int, customs: Customs | None
) -> None:
    reset(sandbox)
    carrier, is_declared = PRODUCTS[code].carrier, country in NEEDING_CUSTOMS
    client, credentials = clients[carrier], CREDENTIALS[carrier]
    ordered = order(code, count, recipient={"country_code": country}, customs=customs)
    reasons = set() if country in SERVED[code].split() else NOT_SERVED
    if is_declared and not customs:
        reasons = reasons | {"customs"}  # of two either may be told
    if reasons:
        with pytest.raises(Rejected) as caught:
            client.create_label(ordered, credentials)
        assert caught.value.field in reasons
        assert ledger(sandbox) == []
        return
    label = client.create_label(ordered, credentials)
    assert [row["tracking_number"] for row in ledger(sandbox)] == list(label.tracking_numbers)
    assert len(label.tracking_numbers) == count
    pages = count * (1 + FORM_PAGES[carrier] * is_declared)
    assert len(sizes(merged(label))) == pages


def test_the_rules_are_of_all_products() -> None:
    assert set(SERVED) == set(PRODUCTS)
    assert all(SERVED.values())
