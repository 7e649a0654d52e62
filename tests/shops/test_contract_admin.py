"""The staff's pages of contracts: found, shown, and without their secrets."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from shops.models import Shop
from tests.labels.admin.pages import CONTRACTS, LABELS
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.orders import ACCOUNT, PASSWORD
from tests.support.factories import ShopFactory

PERMISSIONS = ("view_shippinglabel", "view_carriercontract", "view_shop")


def test_a_contract_is_shown_with_its_products_and_without_its_secret(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(
        shop=shop,
        carrier_code="beta",
        products={"beta": None, "beta_point_retrait_france": {"carrier_code": "HD", "service": "1"}},
        commercial_name="Lumière",
    )
    lists, page = staff.get(CONTRACTS).text, staff.get(f"{CONTRACTS}{contract.id}/change/").text
    for text in ("Maison Lumière", "beta", ACCOUNT["beta"]):
        assert text in lists
        assert text in page
    assert re.search(r"field-product_count[^>]*>\s*2\s*<", lists)
    for text in (
        "Customs value (EUR)",
        "Customs HS code",
        "Pickup point, France",
        "carrier&#x27;s code HD 1",
        "Lumière",
    ):
        assert text in page
    for secret in (PASSWORD["beta"], contract.encrypted_credentials, contract.encrypted_credentials[:20]):
        assert secret not in lists + page


def test_contracts_are_found_and_filtered(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="alpha")
    beta = ContractFactory(shop=ShopFactory(name="Nordlicht"), carrier_code="beta")

    def found(**query: str) -> list[str]:
        return [contract.carrier_code for contract in staff.get(CONTRACTS, query).context["cl"].result_list]

    assert sorted(found()) == ["alpha", "beta"]
    for query in ({"carrier": "beta"}, {"q": ACCOUNT["beta"]}, {"q": "nordl"}, {"shop__id__exact": beta.shop_id}):
        assert found(**query) == ["beta"]


def test_credentials_are_read_by_no_page_and_filter_no_list(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    label = LabelFactory(shop=shop, state="unknown")
    with CaptureQueriesContext(connection) as captured:
        for path in (CONTRACTS, f"{CONTRACTS}{contract.id}/change/", f"{LABELS}{label.id}/change/"):
            assert staff.get(path).status_code == 200
    assert not [query for query in captured if "encrypted_credentials" in query["sql"]]
    assert staff.get(CONTRACTS, {"encrypted_credentials__startswith": "g"}).status_code == 400


def test_a_contract_whose_tracking_has_stopped_says_so(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    page = f"{CONTRACTS}{contract.id}/change/"
    told = "the carrier has refused the credentials"
    assert told not in staff.get(page).text
    assert contract.refuse_tracking()
    assert not contract.refuse_tracking()  # staff are told once
    assert told in staff.get(page).text
    contract.save()
    assert told not in staff.get(page).text


@pytest.mark.real_services
def test_a_refused_contract_is_usable_again_by_the_databases_clock(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + timedelta(minutes=10))  # the host's is ahead
    assert contract.refuse_tracking()
    monkeypatch.undo()
    contract.refresh_from_db()
    assert contract.is_tracking_refused
    contract.save()
    assert not contract.is_tracking_refused
