"""Contracts added and changed in the admin: the command's checks, secrets that no page shows, the carrier's answer."""

from typing import Any

import pytest
from django.test import Client

from carriers.products import PRODUCTS
from shops.contracts import checking
from shops.contracts.models import CarrierContract
from shops.models import Shop
from tests.labels.admin.pages import CONTRACTS
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory
from tests.labels.orders import ACCOUNT, PASSWORD, SENDER
from tests.support.api import Response, logged_in
from tests.support.factories import ShopFactory

ADD = f"{CONTRACTS}add/"
SECRET = "hunter2-Secret"
GOODS = {"customs_description": "Bougies", "customs_value_eur": "12.50", "customs_hs_code": "340600"}


@pytest.fixture
def staff(db: None) -> Client:
    return logged_in(*(f"{action}_carriercontract" for action in ("view", "add", "change")), "view_shop")


@pytest.fixture
def shop(db: None) -> Shop:
    made: Shop = ShopFactory(id="lumiere", name="Maison Lumière", sender_address=SENDER)
    return made


def entered(carrier: str = "beta", **changes: Any) -> dict[str, Any]:
    product = {"alpha": "alpha-13", "beta": "beta"}[carrier]
    values = {"shop": "lumiere", "carrier_code": carrier, "account_number": ACCOUNT[carrier], "products": [product]}
    return values | {"password": PASSWORD[carrier]} | changes


def change(staff: Client, contract: CarrierContract, **changes: Any) -> Response:
    values = {"account_number": contract.account_number, "products": list(contract.products)}
    return staff.post(f"{CONTRACTS}{contract.pk}/change/", values | changes, follow=True)


def faults(answer: Response) -> dict[str, list[str]]:
    return dict(answer.context["adminform"].form.errors)


def test_a_contract_is_added_with_products_and_overrides(staff: Client, shop: Shop) -> None:
    typed = {"products": ["alpha-13", "alpha-18"], "products-alpha-18-code": "16", "products-alpha-18-service": "6"}
    assert staff.post(ADD, entered("alpha", **typed, **GOODS)).status_code == 302
    made = CarrierContract.objects.get()
    assert made.products == {"alpha-13": None, "alpha-18": {"carrier_code": "16", "service": "6"}}
    assert (made.shop, made.credentials.password, made.customs_hs_code) == (shop, PASSWORD["alpha"], "340600")


def test_an_empty_secret_keeps_the_stored_one_and_another_replaces_it(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    change(staff, contract, commercial_name="Bougies")
    kept = CarrierContract.objects.get()
    assert (kept.commercial_name, kept.credentials.password) == ("Bougies", PASSWORD["beta"])
    change(staff, contract, api_key=SECRET)
    credentials = CarrierContract.objects.get().credentials
    assert (credentials.password, credentials.api_key) == ("", SECRET)


def test_new_credentials_let_tracking_go_on(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    contract.refuse_tracking()
    change(staff, contract, password=SECRET)
    assert not CarrierContract.objects.get().is_tracking_refused


def test_no_page_shows_a_secret_not_even_the_one_just_typed(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta", password=SECRET)
    wrong = change(staff, contract, password=SECRET + "2", account_number="")
    for page in (
        wrong,
        staff.get(f"{CONTRACTS}{contract.pk}/change/"),
        staff.get(f"{CONTRACTS}{contract.pk}/history/"),
    ):
        assert SECRET not in page.text
    assert 'name="password"' in wrong.text
    assert faults(wrong)


@pytest.mark.parametrize(
    ("carrier", "changes", "field"),
    [
        ("alpha", {"account_number": "123"}, "account_number"),
        ("alpha", {"password": "x"}, "password"),
        ("alpha", {"password": "", "api_key": "255562"}, "api_key"),
        ("beta", {"password": "two words"}, "password"),
        ("beta", {"password": ""}, "password"),
        ("beta", {"api_key": "both"}, "api_key"),
        ("beta", {"products": []}, "products"),
        ("beta", {"products": ["alpha-13"]}, "products"),
        ("beta", {"products-beta-code": "no-code"}, "products"),
        ("beta", {"products-beta-code": "DOM", "products-beta-service": "6"}, "products"),
        ("alpha", {"products-alpha-13-service": "6"}, "products"),
        ("beta", {"commercial_name": "東京"}, "commercial_name"),
        ("beta", {"customs_description": "Bougies"}, "__all__"),
        ("beta", {"customs_description": "B", "customs_value_eur": "1", "customs_hs_code": "34"}, "customs_hs_code"),
        (
            "beta",
            {"customs_description": "B", "customs_value_eur": "0", "customs_hs_code": "340600"},
            "customs_value_eur",
        ),
    ],
)
def test_the_form_refuses_what_the_command_refuses(
    staff: Client, shop: Shop, carrier: str, changes: dict[str, Any], field: str
) -> None:
    answer = staff.post(ADD, entered(carrier, **changes))
    assert answer.status_code == 200
    assert field in faults(answer)
    assert not CarrierContract.objects.exists()


def test_a_shop_has_one_contract_with_a_carrier(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="beta")
    assert "already exists" in str(faults(staff.post(ADD, entered())))


def test_secrets_pass_over_https_only(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    url = f"{CONTRACTS}{contract.pk}/change/"
    remote: Any = {"REMOTE_ADDR": "192.0.2.1"}
    assert 'name="password"' not in staff.get(url, **remote).text
    assert 'name="password"' in staff.get(url, **remote, secure=True).text
    staff.post(url, {"account_number": "804735", "products": ["beta"], "password": SECRET}, **remote)
    assert CarrierContract.objects.get().credentials.password == PASSWORD["beta"]


def test_who_may_only_look_gets_no_form(shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    viewer = logged_in("view_carriercontract", name="viewer")
    page = viewer.get(f"{CONTRACTS}{contract.pk}/change/").text
    assert 'name="password"' not in page
    assert 'name="_check"' not in page
    assert change(viewer, contract, commercial_name="x", _check="yes").status_code == 403


def checked(staff: Client, **changes: Any) -> Response:
    return staff.post(ADD, entered(**changes) | {"_check": "yes"})


@pytest.mark.django_db(transaction=True)
def test_a_check_tells_what_the_contract_has_and_saves_nothing(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    everything = [code for code, product in PRODUCTS.items() if product.carrier == "alpha"]
    answer = checked(staff, carrier="alpha", products=everything, account_number="19000086")
    assert "alpha accepts the credentials. Products: 8 included, 1 not included." in answer.text
    assert "the contract lacks 86" in answer.text
    assert "beta accepts the credentials. Products: 1 included." in checked(staff).text
    assert PASSWORD["alpha"] not in answer.text
    assert not CarrierContract.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_check_tells_wrong_credentials_and_does_not_stop_saving(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    assert "alpha refuses the credentials" in checked(staff, carrier="alpha", password="000000").text
    assert "beta refuses the credentials" in checked(staff, account_number="130000").text
    assert staff.post(ADD, entered(account_number="130000")).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_a_check_of_a_stored_contract_uses_its_stored_secret(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta", products={"beta": None})
    assert "1 included" in change(staff, contract, _check="yes").text
    CarrierContract.objects.update(encrypted_credentials="x")
    assert "can&#x27;t be read" in change(staff, contract, _check="yes").text


@pytest.mark.django_db(transaction=True)
def test_a_carrier_that_is_not_reached_is_said(
    sandbox: Sandbox,
    shop: Shop,
    staff: Client,
) -> None:
    sandbox.arm("html503", carrier="beta")
    assert "beta was not reached" in checked(staff).text
    with checking.is_checking:
        assert "Another contract is being checked" in checked(staff).text


def test_a_wrong_value_is_told_instead_of_a_check(staff: Client, shop: Shop) -> None:
    answer = checked(staff, account_number="")
    assert "account_number" in faults(answer)
    assert answer.context.get("check") is None
