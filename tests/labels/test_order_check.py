"""POST shipments/check: what a purchase would say, without one."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from carriers.products import PARIS, PRODUCTS
from carriers.sandbox.routes import PATHS
from labels.models import ShippingLabel
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.carriers.sandbox.control import sold
from tests.drills import order_trials, random_orders
from tests.drills.environment import Ask
from tests.labels.conftest import Sandbox, assert_coded
from tests.labels.factories import ContractFactory
from tests.labels.orders import ACCOUNT, Json, order, post, weighing
from tests.support.api import Caller, Response
from tests.support.cases import in_one_test
from tests.support.paths import SHIPMENTS

CHECK = f"{SHIPMENTS}/check"
CHECKS = f"{PATHS['BETA_URL']}/checkGenerateLabel"
FRANCE, EUROPE = "beta_point_retrait_france", "beta_point_retrait_europe"
ALL = ["service", "contract", "carrier"]
TO_POINT = ["service", "contract", "pickup-point", "carrier"]
WORLD = "beta_domicile_signature_monde"
LINES = "destinationAddress.address1 destinationAddress.address2"
FIRST, SECOND = "customs.items[0].description", "customs.items[1].description"
TWO_OF_OTHERS = [{"weight": 1, "reference": "Щ" * 10}] * 2  # alpha spells it `Shch`, beta prints Latin letters
LONG = {"description": "x" * 50, "quantity": 2, "unitValue": 5, "weight": 0.1, "hsCode": "340600"}
FOREIGN = LONG | {"description": "Ж"}


def send(caller: Caller, body: Any, **options: Any) -> Response:
    return post(caller, body, path=CHECK, **options)


def check(caller: Caller, body: Any) -> dict[str, Any]:
    response = send(caller, body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    assert list(answer) == ["ok", "problems", "customsRequired", "delivery", "checked"]
    assert answer["ok"] is not bool(answer["problems"])
    return answer


@in_one_test("product_code", PRODUCTS)
def test_an_order_that_is_sold_is_ok_and_buys_and_writes_nothing(
    asker: Caller, sandbox: Sandbox, product_code: str
) -> None:
    answer = check(asker, order(product_code))
    assert (answer["ok"], answer["problems"]) == (True, [])
    assert answer["checked"] == (TO_POINT if PRODUCTS[product_code].needs_pickup_point else ALL)
    assert sandbox.made() == []
    assert not ShippingLabel.objects.exists()


def test_a_key_is_neither_read_nor_kept(buyer: Caller) -> None:
    body = order("beta")
    for key in ("key-1", "é"):
        assert send(buyer, body, key=key).json()["ok"]
    assert post(buyer, body, key="key-1").status_code == 201
    assert send(buyer, order("alpha-13"), key="key-1").json()["ok"]


def test_our_own_rules_are_problems_with_their_paths(asker: Caller) -> None:
    body = order(FRANCE, pickupPointCode="12", parcels=weighing(31), destination={"city": ""})
    answer = check(asker, body)
    assert [(each["field"], each["from"], each["code"]) for each in answer["problems"]] == [
        (path, "service", None) for path in ("destinationAddress.city", "parcels[0].weight", "pickupPointCode")
    ]
    assert (answer["checked"], answer["delivery"]) == (["service"], None)


def test_what_the_carrier_can_not_print_is_a_problem_of_ours(asker: Caller) -> None:
    (problem,) = check(asker, order("alpha-13", destination={"city": "☃"}))["problems"]
    assert problem == {
        "code": "ALPHA_ADDRESS_REJECTED",
        "field": "destinationAddress.city",
        "message": "destinationAddress.city: has no text that alpha can print.",
        "from": "service",
    }


@pytest.mark.parametrize(
    ("product_code", "text", "problem"),
    [("alpha-13", "☃", "has no text that alpha can print"), ("beta", "Αθήνα", "only Latin letters can be printed")],
)
def test_each_field_that_the_carrier_can_not_print_is_a_problem(
    product_code: str, text: str, problem: str, asker: Caller
) -> None:
    body = order(product_code, origin={"city": text}, destination={"address1": text, "city": text})
    found = [(each["field"], each["message"]) for each in check(asker, body)["problems"]]
    fields = ("originAddress.city", "destinationAddress.address1", "destinationAddress.city")
    assert sorted(found) == sorted((field, f"{field}: {problem}.") for field in fields)


@in_one_test(
    "product_code, changes, fields",
    [
        ("alpha-13", {"parcels": TWO_OF_OTHERS}, "parcels[0].reference parcels[1].reference"),
        ("relais", {"parcels": TWO_OF_OTHERS}, "parcels[0].reference parcels[1].reference"),
        ("beta", {"parcels": TWO_OF_OTHERS}, "parcels[0].reference parcels[1].reference"),
        *((code, {"reference": "Щ" * 10}, "reference") for code in ("alpha-13", "relais", "beta")),
        ("alpha_express_world", {"customs": {"items": [LONG, LONG]}}, f"{FIRST} {SECOND}"),
        (WORLD, {"customs": {"items": [FOREIGN, FOREIGN], "comments": "Ж"}}, f"customs.comments {FIRST} {SECOND}"),
        (
            "beta",
            {"customs": {"items": [LONG], "dutiesPaidBySender": True}, "insuredValue": 5},
            "customs.dutiesPaidBySender insuredValue",
        ),
        ("beta", {"destination": {"address1": "☃", "address2": "☃"}}, LINES),
        ("beta", {"destination": {"address1": "☃", "address2": "x" * 36}}, LINES),
        ("alpha_express_world", {"destination": {"city": "☃"}}, "destinationAddress.city customs"),
        (WORLD, {"destination": {"city": "☃"}}, "destinationAddress.city customs"),
    ],
)
def test_all_that_can_not_be_sent_is_named_at_once(
    product_code: str, changes: Json, fields: str, asker: Caller, sandbox: Sandbox
) -> None:
    CarrierContract.objects.update(customs_description="", customs_value_eur=None, customs_hs_code="")
    body = order(product_code, **({"parcels": weighing(1, 1)} | changes))
    problems = check(asker, body)["problems"]
    assert sorted(each["field"] for each in problems) == sorted(fields.split())
    bought = post(asker, body)
    assert (bought.status_code, sandbox.calls()) == (400, 0)
    message = f" {bought.json()['message']}"
    assert [message.count(f" {field}: ") for field in fields.split()] == [1] * len(problems)


def test_all_that_the_carrier_refuses_is_a_problem(asker: Caller) -> None:
    answer = check(asker, order("beta", destination={"zip": "1234", "phone": "06 12 34 56 78"}))
    found = [(problem["code"], problem["field"], problem["from"]) for problem in answer["problems"]]
    assert found == [
        ("BETA_ADDRESS_REJECTED", "destinationAddress.zip", "carrier"),
        ("BETA_REQUEST_REJECTED", "destinationAddress.phone", "carrier"),
    ]


def test_a_purchase_names_all_that_the_carrier_refuses_and_a_problem_its_own_field(buyer: Caller) -> None:
    body = order("beta", destination={"zip": "1234", "phone": "06 12 34 56 78"})
    message = assert_coded(post(buyer, body), 400, "BETA_ADDRESS_REJECTED")
    problems = check(buyer, body)["problems"]
    assert message == " ".join(each["message"] for each in problems)
    fields = [problem["field"] for problem in problems]
    for problem in problems:
        assert [field for field in fields if field in problem["message"]] == [problem["field"]]


def test_a_missing_sender_or_a_day_that_is_over_is_a_problem(asker: Caller) -> None:
    body = order("beta")
    del body["originAddress"]
    assert [each["field"] for each in check(asker, body)["problems"]] == ["originAddress"]
    yesterday = (datetime.now(PARIS).date() - timedelta(days=1)).isoformat()
    assert [each["field"] for each in check(asker, order("beta", shipDate=yesterday))["problems"]] == ["shipDate"]


def test_without_the_product_on_the_contract_nobody_else_is_asked(own: Caller, sandbox: Sandbox) -> None:
    answer = check(own, order("alpha-13"))
    (problem,) = answer["problems"]
    assert (problem["code"], problem["from"], problem["field"]) == (
        "ALPHA_PRODUCT_NOT_IN_CONTRACT",
        "contract",
        "productCode",
    )
    assert answer["checked"] == ["service", "contract"]
    assert sandbox.server.state.counts() == {}


@pytest.mark.parametrize(("product_code", "code"), [("relais", "5603E"), (FRANCE, "005801"), (FRANCE, "999999")])
def test_a_point_that_is_closed_or_unknown_is_a_problem(asker: Caller, product_code: str, code: str) -> None:
    answer = check(asker, order(product_code, pickupPointCode=code))
    (problem,) = answer["problems"]
    carrier = PRODUCTS[product_code].carrier.upper()
    assert (problem["code"], problem["field"]) == (f"{carrier}_PICKUP_POINT_REJECTED", "pickupPointCode")
    assert (problem["from"], answer["checked"]) == ("pickup-point", TO_POINT[:3])


def test_beta_validates_each_parcel_once_in_five_minutes(asker: Caller, sandbox: Sandbox) -> None:
    body = order("beta", parcels=weighing(1, 2), destination={"zip": "7501"})
    (problem,) = check(asker, body)["problems"]
    assert (problem["code"], problem["from"]) == ("BETA_ADDRESS_REJECTED", "carrier")
    assert check(asker, body)["problems"] == [problem]
    assert sandbox.server.state.counts()[CHECKS] == 2
    assert check(asker, order("beta", parcels=weighing(1, 2)))["ok"]
    assert sandbox.server.state.counts()[CHECKS] == 4


def test_alpha_is_asked_for_the_product_at_the_destination(own: Caller, sandbox: Sandbox) -> None:
    ContractFactory(shop=own.shop, carrier_code="alpha", account_number="19000086")
    answer = check(own, order("relais"))
    (problem,) = answer["problems"]
    assert (problem["code"], problem["field"], problem["from"]) == (
        "ALPHA_PRODUCT_NOT_IN_CONTRACT",
        "productCode",
        "carrier",
    )
    assert answer["checked"] == TO_POINT
    assert check(own, order("alpha-13"))["ok"]
    assert check(own, order("alpha-13", destination={"countryCode": "US", "zip": "10001"}))["problems"]


@pytest.mark.parametrize("place", [("YT", "97600"), ("MC", "98000")])
def test_alphas_price_service_writes_some_countries_in_its_own_way(asker: Caller, place: tuple[str, str]) -> None:
    codes = {"YT": ("alpha_relais_europe_outre_mer", "9761Y"), "MC": ("relais", "6001M")}
    product_code, point = codes[place[0]]
    destination = {"countryCode": place[0], "zip": place[1], "city": "-"}
    assert check(asker, order(product_code, pickupPointCode=point, destination=destination))["ok"]


@pytest.mark.parametrize("carrier", ACCOUNT)
def test_refused_credentials_are_a_problem(own: Caller, sandbox: Sandbox, carrier: str) -> None:
    account = {"alpha": "12000030", "beta": "130000"}[carrier]
    ContractFactory(shop=own.shop, carrier_code=carrier, account_number=account)
    product_code = {"alpha": "alpha-13", "beta": "beta"}[carrier]
    (problem,) = check(own, order(product_code))["problems"]
    assert (problem["code"], problem["from"]) == (f"{carrier.upper()}_CREDENTIALS_REJECTED", "carrier")


def test_credentials_that_can_not_be_read_are_the_contracts_problem(asker: Caller) -> None:
    CarrierContract.objects.update(encrypted_credentials="x")
    (problem,) = check(asker, order("beta"))["problems"]
    assert (problem["code"], problem["from"]) == ("BETA_CREDENTIALS_REJECTED", "contract")


@pytest.mark.parametrize(("product_code", "asked"), [("relais", ALL[:2]), (FRANCE, ALL[:2]), ("alpha-13", ALL[:2])])
def test_a_service_that_is_down_was_not_asked_and_is_no_problem(
    asker: Caller, sandbox: Sandbox, product_code: str, asked: list[str]
) -> None:
    sandbox.arm("reset", carrier=PRODUCTS[product_code].carrier)
    answer = check(asker, order(product_code))
    assert (answer["ok"], answer["checked"], answer["delivery"]) == (True, asked, None)


def test_where_only_the_first_url_is_set_the_carrier_is_not_asked(asker: Caller, settings: Any) -> None:
    settings.CARRIER_ENDPOINTS = {carrier: {"url": urls["url"]} for carrier, urls in settings.CARRIER_ENDPOINTS.items()}
    clients.client.cache_clear()
    assert check(asker, order("alpha-13"))["checked"] == ["service", "contract"]
    answer = check(asker, order("beta"))
    assert (answer["checked"], answer["delivery"]) == (ALL, None)


@pytest.mark.parametrize(
    ("product_code", "has_day"),
    [
        ("alpha-13", True),
        ("alpha_rapide_eco", True),
        ("relais", False),
        ("beta", True),
        (FRANCE, True),
        (EUROPE, False),
    ],
)
def test_the_day_of_arrival_is_the_carriers_promise(asker: Caller, product_code: str, has_day: bool) -> None:
    delivery = check(asker, order(product_code))["delivery"]
    assert (delivery is not None) is has_day
    if delivery:
        assert delivery["earliest"] == delivery["latest"]
        today = datetime.now(PARIS).date()
        assert today < date.fromisoformat(delivery["earliest"]) <= today + timedelta(days=7)


def test_what_is_handed_in_on_a_sunday_is_promised_from_monday_on(asker: Caller) -> None:
    """The carrier is asked about a working day."""
    today = datetime.now(PARIS).date()
    sunday = today + timedelta(days=6 - today.weekday())
    delivery = check(asker, order("beta", shipDate=sunday.isoformat()))["delivery"]
    assert date.fromisoformat(delivery["earliest"]) > sunday + timedelta(days=1)


def test_customs_are_required_where_a_border_is_crossed(asker: Caller) -> None:
    assert check(asker, order("beta_domicile_signature_outre_mer"))["customsRequired"] is True
    assert check(asker, order("beta"))["customsRequired"] is False
    assert check(asker, {"originAddress": order()["originAddress"]})["customsRequired"] is False
    abroad = {"countryCode": "CH", "zip": "8001"}
    assert check(asker, {**order("beta"), "destinationAddress": abroad})["customsRequired"] is True


def test_ignored_fields_are_named(asker: Caller) -> None:
    response = send(asker, order("alpha-13") | {"colour": "red", "pickupPointCode": "1234A"})
    assert response["Ignored-Fields"] == "colour, pickupPointCode"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The body is empty. Send JSON."),
        (b"[]", "The JSON as a whole must be an object, not an array."),
        (b"null", "The JSON as a whole must be an object, not null."),
        (b"{", "The body is not valid JSON"),
    ],
)
def test_only_what_is_no_object_is_a_400(asker: Caller, body: bytes, message: str) -> None:
    response = send(asker, body)
    assert response.status_code == 400
    assert response.json()["message"].startswith(message)


@pytest.fixture
def ask(buyer: Caller) -> Ask:
    def ask(path: str, body: Json) -> tuple[int, Json]:
        response = post(buyer, body, path=path)
        return response.status_code, response.json()

    return ask


def test_a_check_says_what_a_purchase_says(ask: Ask) -> None:
    ends, faults = order_trials.run(ask, orders=60, seed=30)
    assert faults == []
    assert len(ends) > 2


@pytest.mark.any_database
def test_what_random_orders_say_reaches_the_carriers_as_their_pages_have_it(ask: Ask, sandbox: Sandbox) -> None:
    def received(label_id: str) -> list[Json]:
        return [dict(sold(sandbox.server, each.tracking_number).request) for each in sandbox.made(label_id)]

    ends, faults = random_orders.run(ask, received, orders=60, seed=25)
    assert faults == []
    assert set(ends) == {f"{carrier} {end}" for carrier in ACCOUNT for end in ("bought", "refused")}
