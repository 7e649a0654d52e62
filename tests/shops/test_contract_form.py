"""Contracts added and changed in the admin: the command's checks, secrets that no page shows, the carrier's answer."""

from contextlib import ExitStack
from html import unescape
from typing import Any

import pytest
from django.test import Client

from carriers.client import Service
from carriers.products import PRODUCTS
from carriers.shipment import Credentials, ProductOverride
from shops.contracts import accounts
from shops.contracts.accounts import credentials_for, number_for
from shops.contracts.bulkhead import bulkhead, size
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry
from tests.labels.admin.pages import CONTRACTS
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory
from tests.labels.gates import during
from tests.labels.orders import ACCOUNT, PASSWORD
from tests.support.api import Response, logged_in
from tests.support.cases import in_one_test
from tests.support.factories import ShopFactory
from tests.support.threads import in_threads

PERMISSIONS = ("view_carriercontract", "add_carriercontract", "change_carriercontract", "view_shop")
ADD = f"{CONTRACTS}add/"
SECRET = "hunter2-Secret"
EVERYTHING = [code for code, product in PRODUCTS.items() if product.carrier == "alpha"]
GOODS = {"customs_description": "Bougies", "customs_value_eur": "12.50", "customs_hs_code": "340600"}


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


def test_a_contract_that_is_saved_as_it_was_is_not_updated(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop)
    change(staff, contract, **GOODS, label_format=contract.label_format)
    assert AuditEntry.objects.filter(action=Action.CHANGED).count() == 0
    assert CarrierContract.objects.get().updated_at == contract.updated_at


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_one_that_a_colleague_adds_at_the_same_moment_is_an_error_of_the_form(
    monkeypatch: pytest.MonkeyPatch, staff: Client, shop: Shop
) -> None:
    def of_a_colleague(*_: Any, **__: Any) -> None:
        in_threads(1, lambda _: ContractFactory(shop=shop, carrier_code="beta"))

    during(monkeypatch, accounts, "save", before=of_a_colleague)
    (text,) = faults(staff.post(ADD, entered(password=SECRET)))["__all__"]
    assert text == "Carrier contract with this Shop and Carrier code already exists."
    assert CarrierContract.objects.get().credentials.password == PASSWORD["beta"]
    assert AuditEntry.objects.filter(action=Action.ADDED, object_type="shops.carriercontract").count() == 0


def test_an_empty_secret_keeps_the_stored_one_and_another_replaces_it(staff: Client, shop: Shop) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta")
    change(staff, contract, commercial_name="Bougies")
    kept = CarrierContract.objects.get()
    assert (kept.commercial_name, kept.credentials.password) == ("Bougies", PASSWORD["beta"])
    change(staff, contract, api_key=SECRET)
    credentials = CarrierContract.objects.get().credentials
    assert (credentials.password, credentials.api_key) == ("", SECRET)


def test_a_contract_has_further_accounts_paper_and_as(staff: Client, shop: Shop) -> None:
    typed = {"products": ["shop2shop", "relais"], "products-shop2shop-code": "5E", "products-shop2shop-service": "6"}
    numbers = {"pickup_account_number": "19869503", "pickup_secret": "123456", "label_format": "A4"}
    added = staff.post(ADD, entered("alpha", **typed, **numbers) | {"products-shop2shop-as": "A15"})
    assert added.status_code == 302
    made = CarrierContract.objects.get()
    assert made.override("shop2shop") == ProductOverride("5E", "6", "A15")
    assert (made.label_format, made.credentials) == ("A4", Credentials(ACCOUNT["alpha"], PASSWORD["alpha"]))
    assert credentials_for(made, number_for(made, "relais")) == Credentials("19869503", "123456")
    page = staff.get(f"{CONTRACTS}{made.pk}/change/").text
    assert 'value="A15"' in page
    assert "123456" not in page
    change(staff, made, pickup_account_number="19869503")  # no secret typed: both stay
    assert credentials_for(CarrierContract.objects.get(), "19869503").password == "123456"


def test_staff_see_which_contracts_use_a_password(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="beta")
    keyed = ContractFactory(shop=ShopFactory(), carrier_code="beta", api_key=SECRET)

    def found(**query: str) -> list[CarrierContract]:
        return list(staff.get(CONTRACTS, query).context["cl"].result_list)

    assert [each.shop for each in found(secret="False")] == [shop]
    assert found(secret="True") == [keyed]
    assert found(secret="None") == []
    assert "API key" in staff.get(CONTRACTS).text


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


@in_one_test(
    "carrier, changes, field",
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
        ("alpha", {"pickup_account_number": "123"}, "pickup_account_number"),
        ("alpha", {"pickup_account_number": ACCOUNT["alpha"]}, "pickup_account_number"),
        ("alpha", {"parent_account_number": "19869503"}, "parent_account_number"),
        ("alpha", {"pickup_secret": "123456"}, "pickup_secret"),
        ("alpha", {"pickup_account_number": "19869503", "pickup_secret": "x"}, "password"),
        ("alpha", {"label_format": "A5"}, "label_format"),
        ("alpha", {"products-alpha-13-as": "A15"}, "products"),
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


def test_without_a_carrier_that_alone_is_a_fault(staff: Client, shop: Shop) -> None:
    assert faults(staff.post(ADD, entered(carrier_code=""))) == {"carrier_code": ["This field is required."]}


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
    answer = checked(staff, carrier="alpha", products=EVERYTHING, account_number="19000086")
    assert "alpha accepts the credentials. Products: 8 included, 1 not included." in answer.text
    assert "the contract lacks 86" in answer.text
    assert "beta accepts the credentials. Products: 1 included." in checked(staff).text
    assert PASSWORD["alpha"] not in answer.text
    assert not CarrierContract.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_check_counts_alike_in_french(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    typed = entered(carrier="alpha", products=EVERYTHING, account_number="19000086") | {"_check": "yes"}
    answer = staff.post(ADD, typed, headers={"Accept-Language": "fr"})
    assert "alpha accepte les identifiants. Produits\u00a0: 8 inclus, 1 non inclus." in unescape(answer.text)
    details = {finding.detail for finding in answer.context["check"].findings}
    assert {"le contrat a 16", "le contrat n\u2019a pas 86"} & details
    assert [detail for detail in details if not detail.startswith("le contrat")] == []


@pytest.mark.django_db(transaction=True)
def test_a_check_describes_betas_account_in_french(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    typed = entered(products=["beta", "beta_point_retrait_france"]) | {"_check": "yes"}
    found = staff.post(ADD, typed, headers={"Accept-Language": "fr"}).context["check"]
    assert found.facts["Type de compte"] == "ancien"
    assert found.facts["Points de retrait"] == "oui"
    assert "l\u2019échantillon pour FR est accepté" in {finding.detail for finding in found.findings}


@pytest.mark.django_db(transaction=True)
def test_a_check_tells_what_the_account_includes_and_asks_each_account_for_its_own_products(
    sandbox: Sandbox, shop: Shop, staff: Client
) -> None:
    one = checked(staff).context["check"]
    assert one.facts["Kind of account"] == "old"
    assert one.facts["Pickup points"] == "yes"
    assert one.facts["Deposit sites"] == "LYON MONTROCHET PFC"
    typed = {"products": ["beta", "beta_point_retrait_france"], "pickup_account_number": "NEW804736"}
    two = checked(staff, **typed, password="", api_key=SECRET)
    facts = two.context["check"].facts
    assert (facts["804735: Kind of account"], facts["NEW804736: Pickup points"]) == ("old", "yes")
    assert "<dt>804735: General terms accepted</dt><dd>yes</dd>" in two.text
    assert sandbox.calls() == 0
    counts = sandbox.server.state.counts()
    assert (counts["/beta/account/additionalinformations"], counts["/beta/2.0/checkGenerateLabel"]) == (3, 3)


@pytest.mark.django_db(transaction=True)
def test_a_check_tells_wrong_credentials_and_does_not_stop_saving(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    assert "alpha refuses the credentials" in checked(staff, carrier="alpha", password="000000").text
    assert "beta refuses the credentials" in checked(staff, account_number="130000").text
    assert staff.post(ADD, entered(account_number="130000")).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_a_check_uses_the_secret_that_would_be_saved(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    contract = ContractFactory(shop=shop, carrier_code="alpha", products={"relais": None})
    again = {"pickup_account_number": "19869503"}
    change(staff, contract, **again, pickup_secret="000000")
    assert "alpha refuses the credentials" in change(staff, contract, **again, _check="yes").text
    change(staff, contract, pickup_account_number="")  # the account of its labels is kept
    assert credentials_for(CarrierContract.objects.get(), "19869503").password == "000000"
    assert "alpha accepts the credentials" in change(staff, contract, **again, _check="yes").text
    change(staff, contract, **again)
    assert credentials_for(CarrierContract.objects.get(), "19869503").password == PASSWORD["alpha"]


@pytest.mark.django_db(transaction=True)
def test_a_check_of_a_stored_contract_uses_its_stored_secret(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    contract = ContractFactory(shop=shop, carrier_code="beta", products={"beta": None})
    assert "1 included" in change(staff, contract, _check="yes").text
    CarrierContract.objects.update(encrypted_credentials="x")
    assert "can&#x27;t be read" in change(staff, contract, _check="yes").text


@pytest.mark.django_db(transaction=True)
def test_a_carrier_that_is_not_reached_is_said(sandbox: Sandbox, shop: Shop, staff: Client) -> None:
    sandbox.arm("html503", carrier="beta")
    assert "beta was not reached" in checked(staff).text
    with ExitStack() as others:
        for _ in range(size(Service.CONTRACT_CHECKS)):
            others.enter_context(bulkhead.enter("beta", Service.CONTRACT_CHECKS))
        assert "Other contracts are being checked" in checked(staff).text


def test_a_wrong_value_is_told_instead_of_a_check(staff: Client, shop: Shop) -> None:
    answer = checked(staff, account_number="")
    assert "account_number" in faults(answer)
    assert answer.context.get("check") is None
