"""Both carriers' point services: a purchase needs one, and its answers are remembered."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from carriers import pickup_points
from carriers.errors import CarrierUnavailable, PickupPointRejected, RequestRejected
from carriers.pickup_points import FRESH_S, PickupPointCache, PointQuery
from carriers.products import PARIS, PRODUCTS
from carriers.shipment import PickupPoint
from tests.carriers.conftest import Serve, SetTime
from tests.carriers.support.beta import found
from tests.carriers.support.points import Services, alpha_closed
from tests.carriers.support.servers import always, http
from tests.carriers.support.shipments import BOTH, CREDENTIALS, client, shipment

KEY = ("FR", "1234A")
POINT = PickupPoint("1234A")
TODAY = date(2026, 3, 2)
TOMORROW = date(2026, 3, 3)


class Clock:
    """Time that a test sets."""

    now_s = 1_000_000.0

    def time(self) -> float:
        return self.now_s


def down() -> PickupPoint:
    raise CarrierUnavailable("alpha", "down")


def gone() -> PickupPoint:
    raise PickupPointRejected("alpha", "is unknown")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pickup_points, "time", made)
    return made


def test_an_answer_serves_for_an_hour_and_stands_in_for_a_service_that_is_down(clock: Clock) -> None:
    cache = PickupPointCache()
    assert cache.get(KEY, TODAY, lambda: POINT) == POINT
    clock.now_s += FRESH_S - 1
    assert cache.get(KEY, TODAY, gone) == POINT  # not asked
    clock.now_s += 2
    assert cache.get(KEY, TODAY, down) == POINT
    with pytest.raises(PickupPointRejected):
        cache.get(KEY, TODAY, gone)


def test_an_answer_about_another_day_only_stands_in(clock: Clock) -> None:
    cache = PickupPointCache()
    cache.get(KEY, TODAY, lambda: POINT)
    assert cache.get(KEY, TOMORROW, down) == POINT
    with pytest.raises(PickupPointRejected):
        cache.get(KEY, TOMORROW, gone)


def test_without_an_answer_a_service_that_is_down_is_an_error(clock: Clock) -> None:
    with pytest.raises(CarrierUnavailable):
        PickupPointCache().get(KEY, TODAY, down)


# A purchase to a point

DOWN = http(b"<html>", 503, "text/html")


@BOTH
def test_a_point_is_looked_up_once_an_hour(serve: Serve, carrier: str) -> None:
    services = Services(serve, carrier)
    for _ in range(3):
        services.buy()
    assert (len(services.points.requests), len(services.labels.requests)) == (1, 3)


@pytest.mark.parametrize("code", [code for code, product in PRODUCTS.items() if product.needs_pickup_point])
def test_without_a_point_service_nothing_goes_to_a_point(serve: Serve, code: str) -> None:
    server, carrier = serve(always(b"")), PRODUCTS[code].carrier
    with pytest.raises(CarrierUnavailable):
        client(carrier, server.url).create_label(shipment(code), CREDENTIALS[carrier])
    assert server.connections == 0


@pytest.mark.parametrize("code", ["alpha_relais_europe_outre_mer", "beta_point_retrait_france"])
def test_an_order_that_cannot_be_sent_is_not_looked_up(serve: Serve, code: str) -> None:
    carrier = PRODUCTS[code].carrier
    services = Services(serve, carrier)
    with pytest.raises(RequestRejected) as caught:
        services.buy(code, recipient={"phone": ""})
    assert caught.value.field == "destinationAddress.phone"
    assert services.points.connections == services.labels.connections == 0


# A point that closes at midnight

MIDNIGHT = datetime(2026, 3, 3, tzinfo=PARIS)
FIRST_MS, LAST_MS = (int((MIDNIGHT + timedelta(days=days)).timestamp() * 1000) for days in (0, 6))
CLOSING = {
    "alpha": http(alpha_closed("2026-03-03T00:00:00+01:00", "2026-03-09")),
    "beta": found(listeConges=[{"numero": 1, "calendarDeDebut": FIRST_MS, "calendarDeFin": LAST_MS}]),
}


@BOTH
@pytest.mark.parametrize("is_down", [False, True])
def test_a_point_that_closes_at_midnight_is_bought_before_it_and_not_after(
    serve: Serve, at: SetTime, carrier: str, is_down: bool
) -> None:
    services = Services(serve, carrier, [CLOSING[carrier], DOWN if is_down else CLOSING[carrier]])
    at(MIDNIGHT - timedelta(minutes=2))
    services.buy()
    at(MIDNIGHT + timedelta(minutes=3))
    with pytest.raises(PickupPointRejected, match="is closed"):
        services.buy()


@BOTH
def test_a_point_that_will_be_closed_on_the_day_of_dispatch_is_not_bought_today(
    serve: Serve, at: SetTime, carrier: str
) -> None:
    services = Services(serve, carrier, [CLOSING[carrier]])
    at(MIDNIGHT - timedelta(hours=9))
    services.buy()
    with pytest.raises(PickupPointRejected, match="is closed"):
        services.buy(ship_on=TOMORROW)


def test_a_network_that_another_process_was_told_is_known_of_a_point_that_was_found_without_one() -> None:
    shared: dict[str, str] = {}
    PickupPointCache(shared).search(query_at("1 rue A"), lambda: [replace(POINT, network="X00")])
    cache = PickupPointCache(shared)
    assert cache.get(KEY, TOMORROW, lambda: POINT).network == ""  # asked anew
    assert cache.network_of(KEY) == "X00"


def query_at(place: str) -> PointQuery:
    return PointQuery("alpha", "FR", "69002", "Lyon", TODAY, place)


def test_an_answer_that_is_kept_for_other_processes_is_as_it_was() -> None:
    shared: dict[str, str] = {}
    points = [
        replace(POINT, max_weight_kg=Decimal("19.5"), closures=((TODAY, date.max),), latitude=45.75, distance_m=120),
        replace(POINT, opening_hours=((("09:00", "12:00"), ("14:00", "19:00")), *[()] * 6), is_open=False),
    ]
    found = PickupPointCache(shared).search(query_at("1 rue A"), lambda: points)
    assert PickupPointCache(shared).search(query_at("1 RUE a"), list) == found
    assert found.points == points
    assert not any("rue a" in text.lower() for text in shared.values())  # a customer's address


def test_a_search_gets_no_other_ones_answer_and_none_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickup_points, "MAX_SEARCHES", 1)
    shared: dict[str, str] = {}
    cache = PickupPointCache(shared)
    for place in ("1 rue A", "2 rue B"):  # both have the one place
        assert cache.search(query_at(place), lambda: [POINT]).points == [POINT]
    assert cache.search(query_at("2 rue B"), list).points == [POINT]  # not asked again
    assert cache.search(query_at("1 rue A"), list).points == []
    for unknown in ("[]", "no JSON", shared["search:0"].replace("[]", '[{"colour": "red"}]')):
        shared["search:0"] = unknown
        assert cache.search(query_at("1 rue A"), lambda: [POINT]).points == [POINT]


def test_a_point_that_the_carrier_lists_twice_is_shown_once_where_it_is_nearest() -> None:
    points = [
        PickupPoint(code, distance_m=metres) for code, metres in (("A", None), ("B", 300), ("A", 200), ("B", 100))
    ]
    assert [(each.code, each.distance_m) for each in pickup_points.nearest_first(points)] == [("B", 100), ("A", 200)]
