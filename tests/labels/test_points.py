"""GET pickup-points: the points that the same order would be sold to, nearest first, one shape for both carriers."""

import re
import time
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import Mock, patch

import pytest
from prometheus_client import REGISTRY

import carriers
from carriers import pickup_points
from carriers.client import Service
from carriers.pickup_points import SEARCH_FRESH_S
from carriers.products import PARIS
from carriers.sandbox.pickup_points import POINTS as SANDBOX_POINTS
from carriers.sandbox.pickup_points import point_of
from carriers.sandbox.routes import PATHS
from config.docs.openapi.document import source
from shops.api import throttling
from shops.contracts import clients
from shops.contracts.bulkhead import bulkhead
from tests.drills.pickup_points import run
from tests.labels.conftest import Sandbox, assert_coded
from tests.labels.factories import ContractFactory
from tests.labels.orders import order, post
from tests.support.api import Caller, Response, assert_error
from tests.support.cases import in_one_test
from tests.support.paths import POINTS
from tests.support.waiting import WAIT_TIMEOUT_S

LYON = {"zip": "69002", "city": "Lyon"}
RELAIS = LYON | {"productCode": "relais"}
FRANCE = LYON | {"productCode": "beta_point_retrait_france"}
EUROPE = {"productCode": "beta_point_retrait_europe", "zip": "1000", "city": "Bruxelles", "countryCode": "BE"}
GENT = EUROPE | {"zip": "9000", "city": "Gent"}
CARRIERS = {"alpha": RELAIS, "beta": FRANCE}
SEARCH = f"{PATHS['BETA_POINTS_URL']}/findRDVPointRetraitAcheminement"


def find(caller: Caller, query: dict[str, Any], **further: Any) -> Response:
    return caller.get(POINTS, query_params=query | further)


def found(caller: Caller, query: dict[str, Any], **further: Any) -> list[dict[str, Any]]:
    response = find(caller, query, **further)
    assert response.status_code == 200, response.content
    points: list[dict[str, Any]] = response.json()["data"]
    return points


def day(ahead: int) -> str:
    return (datetime.now(PARIS).date() + timedelta(days=ahead)).isoformat()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    class Clock:
        now_s = time.time()

        def time(self) -> float:
            return self.now_s

    made = Clock()
    monkeypatch.setattr(pickup_points, "time", made)
    return made


@pytest.mark.parametrize("query", [*CARRIERS.values(), EUROPE], ids=["alpha", "beta", "abroad"])
def test_points_have_one_shape(asker: Caller, query: dict[str, str]) -> None:
    response = find(asker, query, address1="18 rue de l'Église", limit=25, weight="1.5")
    body = response.json()
    described = source()["components"]["schemas"]["PickupPoint"]["properties"]
    assert list(body) == ["data", "asOf"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["asOf"])
    assert 5 < len(body["data"]) <= 25
    assert all(list(point) == list(described) for point in body["data"])
    distances = [point["distance"] for point in body["data"]]
    assert distances == sorted(distances)
    assert {point["kind"] for point in body["data"]} >= ({"relay", "locker"} if query == RELAIS else {"post_office"})
    open_points = [point for point in body["data"] if point["openingHours"]]
    assert {tuple(point["openingHours"]) for point in open_points} == {
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    }


def test_a_point_is_told_as_its_carrier_has_it(asker: Caller) -> None:
    (point,) = [each for each in found(asker, FRANCE, limit=25) if each["pickupPointCode"] == "692690"]
    assert point == {
        "pickupPointCode": "692690",
        "name": "Bureau de poste Lyon Bellecour",
        "address1": "10 place Antonin Poncet",
        "address2": "",
        "zip": "69002",
        "city": "Lyon",
        "countryCode": "FR",
        "latitude": 45.757,
        "longitude": 4.834,
        "distance": 150,
        "kind": "post_office",
        "maxWeight": 30,
        "openingHours": {
            "monday": [],
            **{name: [["09:30", "18:30"]] for name in ("tuesday", "wednesday", "thursday", "friday", "saturday")},
            "sunday": [],
        },
        "closures": [],
    }


def test_an_adjoining_span_is_one_and_a_day_without_any_is_closed(asker: Caller) -> None:
    hours = [point["openingHours"] for point in found(asker, RELAIS, limit=25)]
    assert {"monday": [], "tuesday": [["09:30", "18:30"]]}.items() <= next(
        week for week in hours if week and not week["monday"]
    ).items()
    assert None in hours  # a locker's access is open


def test_points_that_are_gone_full_closed_or_too_weak_are_left_out(asker: Caller) -> None:
    tours = {"productCode": "relais", "zip": "37000", "city": "Tours"}
    for weight in (3, 2.2 + 0.7, "3E0"):  # the sum has 16 decimals
        assert [point["pickupPointCode"] for point in found(asker, tours, weight=weight)] == ["5605G"]
    assert found(asker, tours, weight="3.001") == []
    assert found(asker, tours, weight=0.1 + 0.2 - 0.3)  # 5.55e-17
    gone = (("44000", "Nantes"), ("21000", "Dijon"), ("76600", "Le Havre"))
    assert [found(asker, tours, zip=zip_code, city=city) for zip_code, city in gone] == [[], [], []]


@pytest.mark.parametrize("query", [RELAIS, FRANCE], ids=lambda query: query["productCode"])
def test_a_weight_with_an_exponent_is_the_same_weight(query: dict[str, str], asker: Caller) -> None:
    assert found(asker, query, weight="1E+1") == found(asker, query, weight=10) != []


def test_a_point_is_asked_for_on_the_day_of_dispatch(asker: Caller) -> None:
    tours = FRANCE | {"zip": "37000", "city": "Tours"}
    (point,) = found(asker, tours)
    closure = point_of("beta", point["pickupPointCode"]).holiday  # type: ignore[union-attr]
    assert closure
    assert point["closures"] == [{"from": closure[0].isoformat(), "to": closure[1].isoformat()}]
    assert len(found(asker, tours, shipDate=day(7))) == 1


def test_above_20_kilograms_only_post_offices_are_found(asker: Caller) -> None:
    assert {point["kind"] for point in found(asker, FRANCE, weight="20.5")} == {"post_office"}


def test_a_code_of_before_takes_its_own_kinds_only(own: Caller, sandbox: Sandbox) -> None:
    for carrier_code, product, code in (("beta", "beta_point_retrait_france", "BPR"), ("alpha", "relais", "5X")):
        override = {"carrier_code": code, "service": ""}
        ContractFactory(shop=own.shop, carrier_code=carrier_code, products={product: override})
    assert {point["kind"] for point in found(own, FRANCE, limit=25)} == {"post_office"}
    assert {point["kind"] for point in found(own, RELAIS, limit=25)} == {"relay"}


def test_nobody_is_sent_to_a_nameless_point_or_one_without_a_type(asker: Caller) -> None:
    liege = EUROPE | {"zip": "4000", "city": "Liège"}
    codes = {point["pickupPointCode"] for point in found(asker, liege, limit=25)}
    assert codes
    assert not codes & {"300559", "300560"}


@pytest.mark.parametrize(
    "query",
    [
        {"productCode": "alpha_relais_europe_outre_mer", "zip": "97400", "city": "Saint-Denis", "countryCode": "RE"},
        {"productCode": "alpha_relais_europe_outre_mer", "zip": "1012 JL", "city": "Amsterdam", "countryCode": "NL"},
        {"productCode": "beta_point_retrait_europe", "zip": "1012 LK", "city": "Amsterdam", "countryCode": "NL"},
        {"productCode": "beta_point_retrait_europe", "zip": "L-1118", "city": "Luxembourg", "countryCode": "LU"},
        {"productCode": "beta_point_retrait_france", "zip": "98000", "city": "Monaco", "countryCode": "MC"},
    ],
    ids=lambda query: query["countryCode"],
)
def test_other_countries_are_searched_as_their_carrier_wants(asker: Caller, query: dict[str, str]) -> None:
    assert {point["countryCode"] for point in found(asker, query)} == {query["countryCode"]}


def test_where_no_point_is_the_list_is_empty(asker: Caller) -> None:
    for query in CARRIERS.values():
        assert found(asker, query, zip="01000", city="Nowhere") == []


# What is refused


@in_one_test(
    "query, message",
    [
        ({}, "productCode: is required. zip: is required. city: is required."),
        (RELAIS | {"productCode": "alpha-13"}, r"productCode: must be one of relais, .*, beta_point_retrait_europe\."),
        (RELAIS | {"productCode": "beta"}, r"productCode: must be one of .*"),
        (RELAIS | {"colour": "red", "wieght": "1"}, r"colour: is no parameter here, .* wieght: is no parameter here.*"),
        (RELAIS | {"weight": "20.5"}, "weight: must be above 0 and at most 20 kilograms for relais."),
        (FRANCE | {"weight": "30.5"}, "weight: must be above 0 and at most 30 kilograms."),
        (RELAIS | {"weight": "1,5"}, "weight: must be a number of kilograms, such as 1.5."),
        (RELAIS | {"weight": "1500"}, "weight: must be above 0 and at most 30 kilograms."),
        (RELAIS | {"weight": "0"}, "weight: must be above 0 and at most 30 kilograms."),
        (RELAIS | {"limit": "26"}, "limit: must be a whole number from 1 to 25."),
        (RELAIS | {"city": " "}, "city: must not be empty."),
        (RELAIS | {"countryCode": "DE"}, "countryCode: relais does not go to DE; search with a product that does."),
        (RELAIS | {"countryCode": "de"}, r"countryCode: must be an ISO 3166-1 .* Use DE\."),
        (RELAIS | {"shipDate": "tomorrow"}, "shipDate: must be a day, YYYY-MM-DD."),
        (RELAIS | {"shipDate": day(2)}, r"shipDate: must be today's date .*"),  # on the next day too
        (FRANCE | {"shipDate": day(9), "limit": "0"}, r"limit: .* shipDate: must be from today to 7 days ahead.*"),
    ],
)
def test_a_query_that_is_wrong_is_a_400_that_names_it(asker: Caller, query: dict[str, str], message: str) -> None:
    response = find(asker, query)
    assert_error(response, 400)
    assert re.fullmatch(message, response.json()["message"]), response.json()["message"]


def test_a_place_that_the_product_does_not_go_to_from_anywhere_is_named_alone(asker: Caller) -> None:
    response = find(asker, RELAIS, productCode="shop2shop", countryCode="MC")
    assert_error(response, 400)
    assert response.json()["message"] == "countryCode: shop2shop does not go to MC."


def test_a_text_that_the_carrier_can_not_read_is_refused_by_its_parameter(asker: Caller) -> None:
    message = assert_coded(find(asker, RELAIS, zip="☃"), 400, "ALPHA_REQUEST_REJECTED")
    assert message == "zip: has no text that alpha can print."


def test_without_a_contract_with_the_product_it_is_the_orders_400(own: Caller, sandbox: Sandbox) -> None:
    refused = find(own, RELAIS).json()
    assert refused | {"timestamp": ""} == post(own, order("relais")).json() | {"timestamp": ""}
    assert refused["code"] == "ALPHA_PRODUCT_NOT_IN_CONTRACT"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_refused_credentials_are_a_502(own: Caller, sandbox: Sandbox, carrier: str) -> None:
    ContractFactory(
        shop=own.shop, carrier_code=carrier, account_number={"alpha": "12000030", "beta": "130000"}[carrier]
    )
    assert_coded(find(own, CARRIERS[carrier]), 502, f"{carrier.upper()}_CREDENTIALS_REJECTED")


# What is remembered


@pytest.mark.parametrize("carrier", CARRIERS)
def test_an_answer_serves_every_shop_for_a_quarter_of_an_hour(
    asker: Caller, other: Caller, sandbox: Sandbox, carrier: str, clock: Any
) -> None:
    ContractFactory(shop=other.shop, carrier_code=carrier)
    first = find(asker, CARRIERS[carrier]).json()
    clock.now_s += SEARCH_FRESH_S - 1
    assert find(other, CARRIERS[carrier], weight=2, limit=25, city="LYON ").json()["asOf"] == first["asOf"]
    path = {"alpha": PATHS["ALPHA_POINTS_URL"], "beta": SEARCH}[carrier]
    assert sandbox.server.state.counts()[path] == 1
    clock.now_s += 2
    assert find(other, CARRIERS[carrier]).json()["asOf"] != first["asOf"]


def searches(carrier: str, source: str) -> float:
    return REGISTRY.get_sample_value("pickup_point_searches_total", {"carrier": carrier, "source": source}) or 0


@pytest.mark.parametrize("carrier", CARRIERS)
def test_while_the_carrier_is_down_its_last_answer_of_the_day_serves(
    asker: Caller, sandbox: Sandbox, carrier: str, clock: Any
) -> None:
    before = find(asker, CARRIERS[carrier]).json()
    sandbox.arm("reset", carrier=carrier)
    clock.now_s += 23 * 3600
    assert find(asker, CARRIERS[carrier]).json() == before
    response = find(asker, CARRIERS[carrier], zip="75011", city="Paris")
    assert_coded(response, 502, f"{carrier.upper()}_UNAVAILABLE")
    assert int(response["Retry-After"]) > 0


@pytest.mark.real_services
@pytest.mark.parametrize("carrier", CARRIERS)
def test_another_processs_answer_serves_and_stands_in(asker: Caller, sandbox: Sandbox, carrier: str) -> None:
    before = find(asker, CARRIERS[carrier]).json()
    clients.client.cache_clear()
    assert find(asker, CARRIERS[carrier]).json() == before
    sandbox.arm("reset", carrier=carrier)
    with patch.object(pickup_points, "SEARCH_FRESH_S", 0):
        assert find(asker, CARRIERS[carrier]).json() == before


@pytest.mark.real_services
def test_while_the_counter_store_is_away_each_process_keeps_its_own_answers(
    asker: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttling, "BACK_OFF_S", WAIT_TIMEOUT_S)
    away = settings.CACHES["rate_limit"] | {"LOCATION": ["redis://127.0.0.1:1/0"]}
    settings.CACHES = settings.CACHES | {"rate_limit": away}
    before = find(asker, RELAIS)
    assert before.status_code == 200
    assert find(asker, RELAIS).json() == before.json()


def test_a_counter_store_that_goes_away_meanwhile_fails_no_search_and_no_order(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "answering_store", Mock(side_effect=OSError))
    (point, *_) = found(buyer, RELAIS)
    answer = post(buyer, order(RELAIS["productCode"], pickupPointCode=point["pickupPointCode"]))
    assert answer.status_code == 201


def test_a_full_bulkhead_is_over_soon(asker: Caller, one_at_a_time: None) -> None:
    with bulkhead.enter("alpha", Service.PICKUP_POINTS):
        response = find(asker, RELAIS)
    assert_coded(response, 502, "ALPHA_UNAVAILABLE")
    assert response["Retry-After"] == "2"


def test_searches_are_counted_by_where_the_answer_came_from(asker: Caller) -> None:
    counts = searches("alpha", "carrier"), searches("alpha", "memory")
    for _ in range(3):
        find(asker, RELAIS)
    assert (searches("alpha", "carrier"), searches("alpha", "memory")) == (counts[0] + 1, counts[1] + 2)


def far_away(code: str) -> dict[str, Any]:
    """An order to a point in Gent for a customer in Liège, whose points are of another network."""
    home = {"countryCode": "BE", "zip": "4000", "city": "Liège", "phone": "+32470112233"}
    return order("beta_point_retrait_europe", destination=home, pickupPointCode=code)


def test_a_point_far_from_home_is_bought_to_once_it_was_shown(buyer: Caller, sandbox: Sandbox) -> None:
    theirs = [point for point in SANDBOX_POINTS if point.carrier == "beta" and point.city == "Gent"]
    body = far_away(next(point.code for point in theirs if point.is_open))
    assert_coded(post(buyer, body), 400, "BETA_PICKUP_POINT_REJECTED")
    assert found(buyer, GENT, limit=25)
    assert post(buyer, body).status_code == 201
    (parcel,) = sandbox.made()
    assert not parcel.is_misrouted


@pytest.mark.real_services
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_point_that_another_process_showed_is_bought_to_while_the_point_service_is_down(
    asker: Caller, sandbox: Sandbox, carrier: str
) -> None:
    (point, *_) = found(asker, CARRIERS[carrier])
    clients.client.cache_clear()
    product = CARRIERS[carrier]["productCode"]
    for operation in carriers.CARRIERS[carrier].points_operations:
        sandbox.arm("reset", carrier=carrier, operation=operation)
    assert post(asker, order(product, pickupPointCode=point["pickupPointCode"])).status_code == 201


def test_each_point_that_is_shown_is_bought_to(buyer: Caller, sandbox: Sandbox) -> None:
    def ask(path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        response = buyer.get(path) if body is None else post(buyer, body)
        return response.status_code, response.json()

    def misrouted() -> int:
        return sum(parcel.is_misrouted for parcel in sandbox.made())

    bought, faults = run(ask, misrouted, searches=24, purchases=1, seed=29)
    assert faults == []
    assert bought > 15


def test_a_point_that_was_shown_long_ago_is_looked_up_in_its_network(
    buyer: Caller, sandbox: Sandbox, clock: Any
) -> None:
    (point, *_) = found(buyer, GENT)
    clock.now_s += 12 * 3600
    assert post(buyer, far_away(point["pickupPointCode"])).status_code == 201
    assert sandbox.server.state.counts()[SEARCH] == 1
