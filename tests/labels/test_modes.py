"""Test mode: a test shop's clients are the sandbox's alone, and nothing of it is counted, exported or handed in."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from prometheus_client import REGISTRY
from pytest_django.fixtures import Settings

from carriers import CARRIERS
from carriers.circuit_breaker import CircuitState
from carriers.client import Service
from carriers.errors import CarrierUnavailable
from carriers.sandbox.server import SandboxServer
from config.desk.found import look_up
from labels.figures import counting as label_counting
from labels.figures.models import LabelFigure
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from parcels.figures import counting as parcel_counting
from parcels.figures.models import ParcelFigure, TrackingFigure
from parcels.models import TrackingNumber
from parcels.tracking import limits
from parcels.tracking.due import oldest_due_s
from parcels.tracking.refreshing import refresh
from shops.contracts import clients
from shops.contracts.bulkhead import bulkhead, size
from shops.contracts.models import CarrierContract
from shops.contracts.terms import SANDBOX_ACCOUNT, SANDBOX_SECRET
from shops.db import clock
from shops.models import Shop
from tests.labels.admin.pages import CONTRACTS, LABELS
from tests.labels.conftest import Sandbox, assert_coded
from tests.labels.orders import SENDER, order, post
from tests.shops.commands import call, refused
from tests.support.api import Caller, caller
from tests.support.desk import act
from tests.support.factories import ShopFactory, import_parcel
from tests.support.paths import POINTS, SHIPMENTS, TRACKING

PERMISSIONS = (
    *("view_labelfigure", "view_parcel", "add_shop", "change_shop", "view_accesstoken", "view_personal_data"),
    *("change_shippinglabel", "add_depositslip", "add_carriercontract", "change_carriercontract"),
)
LYON = {"zip": "69002", "city": "Lyon"}
RELAIS = LYON | {"productCode": "relais"}
FRANCE = LYON | {"productCode": "beta_point_retrait_france"}
PICKUPS = {"alpha": ("relais", "1234A"), "beta": ("beta_point_retrait_france", "001234")}


@pytest.fixture(scope="module")
def test_server() -> Iterator[SandboxServer]:
    with SandboxServer() as server:
        yield server


@pytest.fixture
def tests(test_server: SandboxServer, sandbox: Sandbox, settings: Settings) -> Iterator[Sandbox]:
    """The test shops' sandbox, beside the stand-in in the carriers' place, which records what it is asked."""
    test_server.state.reset()
    own = {name: urls | {"tracking_url": None} for name, urls in settings.CARRIER_ENDPOINTS.items()}
    own["alpha"]["tracking_url"] = sandbox.server.urls["ALPHA_TRACKING_URL"]
    own["beta"]["tracking_url"] = sandbox.server.urls["BETA_TRACKING_URL"]
    settings.CARRIER_ENDPOINTS = own
    settings.SANDBOX_URL = test_server.url
    settings.TRACKING_RATES = dict.fromkeys(settings.TRACKING_RATES, 1000.0)
    forget_clients()
    yield Sandbox(test_server)
    test_server.state.reset()
    forget_clients()


def run(*arguments: str) -> str:
    return call(*arguments)[0].strip()


def exported(staff: Client, page: str) -> str:
    return staff.get(f"/admin/{page}/export.csv").getvalue().decode()


def ask(shop: Caller, path: str, body: Any = None) -> Any:
    return shop.request("POST", f"{SHIPMENTS}/{path}", data=json.dumps(body), content_type="application/json")


def forget_clients() -> None:
    for made in (clients.client, clients.tracker, limits.slots):
        made.cache_clear()


def asked(sandbox: Sandbox) -> dict[str, int]:
    return {path: count for path, count in sandbox.server.state.counts().items() if count}


@pytest.fixture
def tester(transactional_db: None, tests: Sandbox) -> Caller:
    """A test shop, made as an operator makes it."""
    shop = Shop.objects.get(id=run("create_shop", "Essai", "--test", "--id", "essai"))
    Shop.objects.filter(id=shop.id).update(sender_address=SENDER)
    for carrier in CARRIERS:
        run("configure_carrier", shop.id, carrier, "--all-products")
    return Caller(shop=Shop.objects.get(id=shop.id), token=run("create_token", shop.id))


def buy(shop: Caller, carrier: str = "alpha", **changes: Any) -> dict[str, Any]:
    product = {"alpha": "alpha-13", "beta": "beta_domicile_sans_signature_france"}[carrier]
    answer = post(shop, order(product, **changes))
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def do_all(shop: Caller) -> None:
    """Do what a shop can do, as far as a carrier could be asked."""
    for query in (RELAIS, FRANCE):
        assert shop.get(POINTS, query_params=query).json()["data"]
    for carrier in CARRIERS:
        product, point = PICKUPS[carrier]
        body = order(product, pickupPointCode=point)
        checked = ask(shop, "check", body)
        assert {"pickup-point", "carrier"} <= set(checked.json()["checked"]), checked.content
        assert post(shop, body).status_code == 201
        made = buy(shop, carrier, reference="JOURNEY RELAY")
        assert shop.get(f"{SHIPMENTS}/{made['id']}").status_code == 200
        cancelled = ask(shop, f"{buy(shop, carrier)['id']}/cancel")
        assert cancelled.json()["status"] == "cancelled", cancelled.content
        post(shop, order({"alpha": "alpha-13", "beta": "beta"}[carrier], reference="FAULT RESET"))
    ShippingLabel.objects.filter(state=LabelState.UNKNOWN).update(leased_until=clock.now(), ask_again_at=None)
    reconcile()
    import_parcel(shop.shop, carrierCode="beta", lastStatus="IN_TRANSIT")
    TrackingNumber.objects.update(due_at=clock.now())
    for carrier in CARRIERS:
        for is_test in (False, True):
            refresh(carrier, stop=Event(), is_test=is_test)


@pytest.mark.any_database
def test_nothing_that_a_test_shop_does_reaches_a_carrier(
    staff: Client, tester: Caller, tests: Sandbox, sandbox: Sandbox
) -> None:
    do_all(tester)
    for contract in CarrierContract.objects.all():
        values = {"account_number": contract.account_number, "products": list(contract.products), "_check": "yes"}
        page = staff.post(f"{CONTRACTS}{contract.pk}/change/", values)
        assert page.context["check"].is_good, page.context["check"]
    for label in ShippingLabel.objects.filter(state=LabelState.UNKNOWN):
        staff.post(f"{LABELS}{label.pk}/ask/")
    assert asked(sandbox) == {}
    assert len(tests.made()) >= 6
    assert {path.split("/")[1] for path in asked(tests)} == set(CARRIERS)
    for kind in ("tracking", "points", "quickcost", "account", "delivery", "2.0"):
        assert any(kind in path for path in asked(tests)), kind


@pytest.mark.any_database
def test_each_mode_has_its_circuit_breakers_points_slots_and_bulkheads(
    tester: Caller, buyer: Caller, tests: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, test = (clients.client("alpha", is_test=is_test) for is_test in (False, True))
    told = {"carrier": "alpha", "service": "shipping", "state": "open"}
    before = REGISTRY.get_sample_value("carrier_circuit_breaker", told)  # of earlier tests of this process
    for _ in range(5):
        with pytest.raises(CarrierUnavailable), test.circuit_breaker.call():
            raise CarrierUnavailable("alpha", is_carrier_failing=True)
    assert test.circuit_breaker.state is CircuitState.OPEN
    assert live.circuit_breaker.state is CircuitState.CLOSED
    assert REGISTRY.get_sample_value("carrier_circuit_breaker", told) == before
    buy(buyer)
    assert_coded(post(tester, order("alpha-13")), 502, "ALPHA_UNAVAILABLE")
    assert buyer.get(POINTS, query_params=FRANCE).status_code == 200
    assert tester.get(POINTS, query_params=FRANCE).status_code == 200
    assert any("points" in path for path in asked(tests))  # nothing of the live shop's answer is shared
    assert limits.slots("alpha", is_test=True)._name != limits.slots("alpha", is_test=False)._name
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", 0.0)
    with ExitStack() as full:
        for _ in range(size(Service.SHIPPING, is_test=True)):
            full.enter_context(bulkhead.enter("beta", is_test=True))
        turned_away = "label_orders_turned_away_total", {"carrier": "beta"}
        before = REGISTRY.get_sample_value(*turned_away)
        assert_coded(post(tester, order("beta_domicile_sans_signature_france")), 502, "BETA_UNAVAILABLE")
        assert REGISTRY.get_sample_value(*turned_away) == before
        buy(buyer, "beta")


@pytest.mark.any_database
def test_without_the_sandbox_a_test_shops_orders_are_unavailable_and_nobody_is_asked(
    tester: Caller, tests: Sandbox, sandbox: Sandbox, settings: Settings
) -> None:
    made = buy(tester)
    settings.SANDBOX_URL = ""
    forget_clients()
    before = asked(tests)
    for carrier in CARRIERS:
        product, point = PICKUPS[carrier]
        assert_coded(post(tester, order(product, pickupPointCode=point)), 502, f"{carrier.upper()}_UNAVAILABLE")
        home = {"alpha": "alpha-13", "beta": "beta"}[carrier]
        assert_coded(post(tester, order(home)), 502, f"{carrier.upper()}_UNAVAILABLE")
    assert_coded(tester.get(POINTS, query_params=RELAIS), 502, "ALPHA_UNAVAILABLE")
    checked = ask(tester, "check", order("alpha-13")).json()
    assert (checked["ok"], "carrier" in checked["checked"]) == (True, False)
    assert_coded(ask(tester, f"{made['id']}/cancel"), 502, "ALPHA_UNAVAILABLE")
    TrackingNumber.objects.update(due_at=clock.now())
    for is_test in (False, True):
        refresh("alpha", stop=Event(), is_test=is_test)
    ShippingLabel.objects.exclude(state=LabelState.GENERATED).update(leased_until=clock.now(), ask_again_at=None)
    reconcile()
    assert (asked(tests), asked(sandbox)) == (before, {})
    assert "no sandbox" in refused("create_shop", "Essai", "--test")
    assert Shop.objects.filter(is_test=True).count() == 1


def test_a_test_shop_is_in_no_figure_metric_export_or_slip(
    staff: Client, tester: Caller, buyer: Caller, tests: Sandbox
) -> None:
    before = metrics()
    do_all(tester)
    ShippingLabel.objects.filter(shop=tester.shop).update(staff_notice="look")
    label_counting.recount()
    parcel_counting.recount()
    label_counting.recount()
    assert not LabelFigure.objects.exists()
    assert not ParcelFigure.objects.exists()
    assert not TrackingFigure.objects.exists()
    assert metrics() == before
    TrackingNumber.objects.update(due_at=clock.now() - timedelta(hours=1))
    assert max(oldest_due_s(carrier) for carrier in CARRIERS) == 0
    assert "essai" not in staff.get("/admin/labels/labelfigure/").text.lower()
    assert staff.get("/admin/").context["tiles"]
    for page in ("labels/shippinglabel", "parcels/parcel", "shops/shop", "shops/carriercontract", "labels/labelfigure"):
        assert "essai" not in exported(staff, page).lower(), page
    assert look_up({*TrackingNumber.objects.values_list("number", flat=True)}) == {}  # no invoice is checked with them
    listed = staff.get("/admin/labels/shippinglabel/to-decide/").context
    assert not [*listed["waiting"], *listed["noticed"], *listed["others"]]
    labels = ShippingLabel.objects.filter(shop=tester.shop, carrier_code="beta", state=LabelState.GENERATED)
    assert "is a test shop" in act(staff, "make_slip", *labels).text
    assert not any("Bordereau" in path for path in asked(tests))


def metrics() -> dict[str, float]:
    names = ("label_purchases", "carrier_call", "pickup_point_searches", "tracking_parcels_asked", "tracking_events")
    return {
        f"{sample.name}{sample.labels}": sample.value
        for metric in REGISTRY.collect()
        for sample in metric.samples
        if sample.name.startswith(names) and not sample.name.endswith("_created")
    }


@pytest.mark.parametrize("is_test", [True, False])
def test_no_shop_changes_its_mode(db: None, is_test: bool) -> None:
    shop = ShopFactory(is_test=is_test)
    with pytest.raises(IntegrityError), transaction.atomic():
        Shop.objects.filter(id=shop.id).update(is_test=not is_test)
    shop.is_test = not is_test
    with pytest.raises(IntegrityError), transaction.atomic():
        shop.save()
    Shop.objects.filter(id=shop.id).update(name="Another", is_test=is_test)
    assert Shop.objects.get(id=shop.id).is_test is is_test


@pytest.mark.any_database
def test_no_form_changes_a_shops_mode(staff: Client, tester: Caller) -> None:
    url = f"/admin/shops/shop/{tester.shop.id}/change/"
    for value in ({"is_test": ""}, {"is_test": "on"}):
        staff.post(url, {"name": "Essai", "is_active": "on"} | value)
    assert Shop.objects.get(id=tester.shop.id).is_test
    staff.post("/admin/shops/shop/add/", {"name": "Neu", "is_active": "on", "is_test": "on"})
    assert not Shop.objects.get(name="Neu").is_test


@pytest.mark.any_database
def test_a_test_shop_says_test_in_lists_and_on_pages(staff: Client, tester: Caller) -> None:
    made = buy(tester)
    for path in (
        *("shops/shop/", f"shops/shop/{tester.shop.id}/change/", "shops/carriercontract/", "shops/accesstoken/"),
        *("labels/shippinglabel/", f"labels/shippinglabel/{made['id']}/change/"),
        *("parcels/parcel/", f"parcels/parcel/{made['id']}/change/"),
        *(f"{row}/{made['id']}/history/" for row in ("labels/shippinglabel", "parcels/parcel")),
    ):
        assert "TEST" in staff.get(f"/admin/{path}").text.replace("TEST_", ""), path


@pytest.mark.any_database
def test_a_contract_of_a_test_shop_is_added_in_the_admin_without_credentials(staff: Client, tests: Sandbox) -> None:
    ShopFactory(id="essai", is_test=True)
    typed = {"shop": "essai", "carrier_code": "alpha", "products": ["alpha-13"]}
    assert staff.post(f"{CONTRACTS}add/", typed | {"_check": "yes"}).context["check"].is_good
    assert staff.post(f"{CONTRACTS}add/", typed).status_code == 302
    contract = CarrierContract.objects.get()
    assert (contract.credentials.account_number, contract.credentials.password) == (
        SANDBOX_ACCOUNT,
        SANDBOX_SECRET["password"],
    )
    ShopFactory(id="live")
    page = staff.post(f"{CONTRACTS}add/", typed | {"shop": "live"})
    assert set(page.context["adminform"].form.errors) == {"account_number", "password"}


@pytest.mark.any_database
def test_a_live_shops_contract_needs_credentials(db: None) -> None:
    ShopFactory(id="live")
    assert "--account-number" in refused("configure_carrier", "live", "alpha", "--all-products")
    assert "--password-stdin" in refused(
        "configure_carrier", "live", "alpha", "--all-products", "--account-number", "1"
    )
    assert not CarrierContract.objects.exists()


def test_the_sandboxs_credentials_have_every_carriers_form() -> None:
    for carrier in CARRIERS.values():
        assert carrier.credentials_shape.account_number.fullmatch(SANDBOX_ACCOUNT)
        assert carrier.credentials_shape.password.fullmatch(SANDBOX_SECRET["password"])


def test_the_clients_paths_are_the_sandboxs(test_server: SandboxServer) -> None:
    endpoints = {name: asdict(carrier.sandbox_endpoint(test_server.url)) for name, carrier in CARRIERS.items()}
    urls = ((f"{carrier}_{name}".upper(), url) for carrier, named in endpoints.items() for name, url in named.items())
    assert {name: url for name, url in urls if url} == test_server.urls


def test_its_tokens_say_test_and_are_known_everywhere(staff: Client, tester: Caller) -> None:
    assert tester.token.startswith("pts_test_")
    assert tester.get(f"{TRACKING}/search", query_params={"orderName": "x"}).status_code == 200
    assert caller(ShopFactory()).token.startswith("pts_")
    assert staff.get("/admin/shops/accesstoken/", {"q": tester.token}).context["cl"].result_count == 1
