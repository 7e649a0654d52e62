"""The services of a carrier stop only themselves, and what one shop causes stops no other shop."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import pytest

from carriers import CARRIERS, TRACKERS
from carriers.base import Endpoint
from carriers.circuit_breaker import CircuitState
from carriers.client import Client, Limits, Service
from carriers.errors import CarrierError, CarrierUnavailable
from carriers.pickup_points import PickupPointCache
from carriers.trials import SAMPLE_SENDER, Terms
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import found
from tests.carriers.support.servers import LABEL, LoopbackServer, answer_file, http
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, shipment
from tests.carriers.support.tracking import HISTORY, NUMBERS
from tests.carriers.test_contract_checks import answered, products
from tests.carriers.test_deposit_slips import slip

THRESHOLD = 5
LIMITS = Limits(timeout_s=30, failure_threshold=THRESHOLD, reset_timeout_s=600)
OUTAGE = http(b"<html>Service Unavailable", 503, "text/html")
CHOKED_ON = http(b'{"error": "Internal Server Error", "message": "NullPointerException"}', 500, "application/json")
TWO_SHOPS = ["shop 0", "shop 1"]
RELAYS = {"alpha": "relais", "beta": "beta_point_retrait_france"}
TERMS = {carrier: Terms({PRODUCT[carrier]: None}, SAMPLE_SENDER, "Bougies") for carrier in CARRIERS}


@dataclass
class World:
    """Everything of a carrier on one server, of which some operations fail."""

    carrier: str
    server: LoopbackServer
    failing: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        url = self.server.url
        self.server.play = self.play
        points_url, quickcost_url = f"{url}/points", f"{url}/products"
        endpoint = Endpoint(url, tracking_url=url, points_url=points_url, quickcost_url=quickcost_url)
        self.client = CARRIERS[self.carrier](endpoint, LIMITS)
        self.tracker = TRACKERS[self.carrier](f"{url}/timelineCompany", LIMITS)

    def play(self, stream: socket.socket, request: bytes) -> bool:
        operation = next(name for name in self.operations if name.encode() in request)
        stream.sendall(self.failing.get(operation, self.operations[operation].answer))
        return True

    @property
    def operations(self) -> "Mapping[str, Operation]":
        return OPERATIONS[self.carrier]

    def buy(self, shop_id: str, product_code: str = "") -> None:
        credentials = replace(CREDENTIALS[self.carrier], shop_id=shop_id)
        self.client.create_label(shipment(product_code or PRODUCT[self.carrier]), credentials)

    def buy_to_a_point(self, shop_id: str) -> None:
        self.client._points = PickupPointCache()  # an answer of the last hour would do
        self.buy(shop_id, RELAYS[self.carrier])

    def track(self, shop_id: str) -> None:
        self.tracker.track(NUMBERS[self.carrier], replace(CREDENTIALS[self.carrier], shop_id=shop_id))

    def fails(self, operation: str, *shop_ids: str, answer: bytes = OUTAGE) -> None:
        """Let calls of the operation fail, for one shop after the other."""
        self.failing[operation] = answer
        for shop_id in shop_ids:
            with pytest.raises(CarrierError):
                self.operations[operation].call(self, shop_id)
        self.failing.clear()

    def answers(self, shop_id: str) -> dict[str, bool]:
        """Tell of each operation if the carrier is asked."""
        return {name: is_let_through(partial(each.call, self, shop_id)) for name, each in self.operations.items()}

    def breakers(self) -> dict[Service, CircuitState]:
        clients: tuple[Client, ...] = (self.client, self.tracker)
        return {service: each.state for client in clients for service, each in client.circuit_breakers.items()}


def is_let_through(call: Callable[[], object]) -> bool:
    try:
        call()
    except CarrierUnavailable as error:
        if "the circuit breaker is open" in str(error):
            return False
        raise
    return True


@pytest.fixture
def alpha(serve: Serve) -> World:
    return World("alpha", serve(lambda *_: False))


@pytest.fixture
def beta(serve: Serve) -> World:
    return World("beta", serve(lambda *_: False))


@pytest.fixture
def world(carrier: str, serve: Serve) -> World:
    return World(carrier, serve(lambda *_: False))


Call = Callable[[World, str], object]


class Operation(NamedTuple):
    """The service that an operation belongs to, a call of it for a shop, and the answer of a carrier that works."""

    service: Service
    call: Call
    answer: bytes


def of_client(method: str, argument: object) -> Call:
    def call(world: World, shop_id: str) -> object:
        return getattr(world.client, method)(argument, replace(CREDENTIALS[world.carrier], shop_id=shop_id))

    return call


def recorded(name: str) -> bytes:
    return http(answer_file(f"alpha_{name}.xml"))


OPERATIONS: Mapping[str, Mapping[str, Operation]] = {
    "alpha": {
        "shippingMultiParcelV4": Operation(Service.SHIPPING, World.buy, LABEL["alpha"]),
        "rechercheDetailPointChronopost": Operation(Service.PICKUP_POINTS, World.buy_to_a_point, recorded("point")),
        "cancelSkybill": Operation(Service.CANCELLATION, of_client("cancel", NUMBERS["alpha"]), recorded("cancelled")),
        "trackWithSenderRef": Operation(
            Service.CANCELLATION, of_client("find_by_reference", "0RCRUGWG"), recorded("found")
        ),
        "searchPOD": Operation(
            Service.CANCELLATION, of_client("proof_of_delivery", NUMBERS["alpha"]), recorded("proof")
        ),
        "getReservedSkybillWithTypeAndModeAuth": Operation(
            Service.REPRINTS, of_client("fetch_label", "1" * 17), recorded("fetched")
        ),
        "calculateProducts": Operation(
            Service.CONTRACT_CHECKS, of_client("check_contract", TERMS["alpha"]), products("1")
        ),
        "trackSkybillV2": Operation(Service.TRACKING, World.track, HISTORY["alpha"]),
    },
    "beta": {
        "generateLabel": Operation(Service.SHIPPING, World.buy, LABEL["beta"]),
        "findPointRetraitAcheminementByID": Operation(Service.PICKUP_POINTS, World.buy_to_a_point, found()),
        "generateBordereauByParcelsNumbers": Operation(
            Service.DEPOSIT_SLIPS, of_client("deposit_slip", ["6A10000000012", "6A10000000029"]), slip()
        ),
        "checkGenerateLabel": Operation(
            Service.CONTRACT_CHECKS, of_client("check_contract", TERMS["beta"]), answered("0", 200)
        ),
        "timelineCompany": Operation(Service.TRACKING, World.track, HISTORY["beta"]),
    },
}
EACH = pytest.mark.parametrize(
    ("carrier", "failing"), [(carrier, operation) for carrier, own in OPERATIONS.items() for operation in own]
)


@EACH
def test_ten_failures_of_a_service_stop_no_other(world: World, failing: str) -> None:
    service = world.operations[failing].service
    world.fails(failing, *TWO_SHOPS * 5)
    # A purchase to a point takes both services.
    taking = {service, Service.PICKUP_POINTS} if service is Service.SHIPPING else {service}
    stopped = {operation for operation, each in world.operations.items() if each.service in taking}
    assert {operation for operation, is_answered in world.answers("a third shop").items() if not is_answered} == stopped
    is_open = {service: CircuitState.OPEN}
    assert world.breakers() == dict.fromkeys(world.breakers(), CircuitState.CLOSED) | is_open


@EACH
def test_successes_of_a_service_close_no_others_circuit(world: World, failing: str) -> None:
    world.fails(failing, *TWO_SHOPS * THRESHOLD)
    before = world.breakers()
    world.answers("a third shop")
    assert world.breakers() == before


@BOTH
def test_every_service_of_a_carrier_is_in_the_table(world: World) -> None:
    assert {each.service for each in world.operations.values()} == set(world.breakers())


@EACH
def test_answers_of_a_carriers_gateway_that_refuse_a_request_stop_nobody(world: World, failing: str) -> None:
    world.fails(failing, *TWO_SHOPS * 5, answer=http(b"<html>Not Acceptable", 406, "text/html"))
    assert all(world.answers("shop 0").values())


def test_orders_of_one_shop_that_beta_chokes_on_stop_nobody(beta: World) -> None:
    beta.fails("generateLabel", *["one"] * 10, answer=CHOKED_ON)
    assert all(beta.answers("other").values())
    assert all(beta.answers("one").values())


def test_a_failure_that_several_shops_meet_stops_all(beta: World) -> None:
    beta.fails("generateLabel", *["one"] * 10, "other", answer=CHOKED_ON)
    assert not beta.answers("third")["generateLabel"]


@BOTH
def test_a_carrier_that_answers_one_shop_nothing_is_not_asked_for_that_shop_alone(world: World) -> None:
    purchase = world.client.purchase_operation
    world.fails(purchase, *["one"] * THRESHOLD)
    assert not world.answers("one")[purchase]
    asked = len(world.server.requests)
    for _ in range(10):
        assert not is_let_through(partial(world.buy, "one"))
    assert len(world.server.requests) == asked
    assert world.answers("other")[purchase]


@BOTH
def test_another_shops_label_lets_the_first_shop_order_again(world: World) -> None:
    world.fails(world.client.purchase_operation, *["one"] * THRESHOLD)
    world.buy("other")
    world.buy("one")


@BOTH
def test_another_shops_failure_stops_all(world: World) -> None:
    purchase = world.client.purchase_operation
    world.fails(purchase, *["one"] * THRESHOLD, "other")
    assert not world.answers("third")[purchase]


@BOTH
def test_the_shop_that_is_stopped_alone_sends_one_probe_after_the_reset_timeout(world: World) -> None:
    purchase = world.client.purchase_operation
    world.fails(purchase, *["one"] * THRESHOLD)
    breaker = world.client.circuit_breaker
    breaker._opened_at_s -= LIMITS.reset_timeout_s
    world.fails(purchase, "one")
    assert not is_let_through(partial(world.buy, "one"))
    breaker._opened_at_s -= LIMITS.reset_timeout_s
    world.buy("one")
    assert world.client.circuit_breaker.state is CircuitState.CLOSED


@BOTH
def test_a_shop_whose_probes_alone_fail_stops_itself_alone(world: World) -> None:
    purchase, breaker = world.client.purchase_operation, world.client.circuit_breaker
    world.fails(purchase, *TWO_SHOPS * THRESHOLD)
    for _ in range(THRESHOLD):
        breaker._opened_at_s -= LIMITS.reset_timeout_s
        world.fails(purchase, "one")
    assert not is_let_through(partial(world.buy, "one"))
    assert world.answers("other")[purchase]


def test_the_log_names_the_shop_that_is_stopped_alone(alpha: World, caplog: pytest.LogCaptureFixture) -> None:
    alpha.fails("cancelSkybill", *["one"] * THRESHOLD, "other")
    lines = [vars(record) for record in caplog.records if record.name == "carriers.circuit_breaker"]
    told = [{name: line.get(name) for name in ("carrier", "service", "state", "shop")} for line in lines]
    is_open = {"carrier": "alpha", "service": "cancellation", "state": "open"}
    assert told == [is_open | {"shop": "one"}, is_open | {"shop": None}]


def test_what_a_shop_is_stays_with_us(beta: World) -> None:
    for operation, each in beta.operations.items():
        each.call(beta, "shop_7Q")
        assert b"shop_7Q" not in b"".join(beta.server.requests), operation
