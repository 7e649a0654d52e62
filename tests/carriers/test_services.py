"""The services of a carrier stop only themselves, and what one shop causes stops no other shop."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

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
RELAYS = {"alpha": "relais", "beta": "beta_point_retrait_france"}
# What each operation is answered by a carrier that works.
ANSWERS = {
    "shippingMultiParcelV4": LABEL["alpha"],
    "rechercheDetailPointChronopost": http(answer_file("alpha_point.xml")),
    "cancelSkybill": http(answer_file("alpha_cancelled.xml")),
    "trackWithSenderRef": http(answer_file("alpha_found.xml")),
    "searchPOD": http(answer_file("alpha_proof.xml")),
    "getReservedSkybillWithTypeAndModeAuth": http(answer_file("alpha_fetched.xml")),
    "calculateProducts": products("1"),
    "trackSkybillV2": HISTORY["alpha"],
    "checkGenerateLabel": answered("0", 200),
    "generateLabel": LABEL["beta"],
    "generateBordereauByParcelsNumbers": slip(),
    "findPointRetraitAcheminementByID": found(),
    "timelineCompany": HISTORY["beta"],
}


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
        operation = next(name for name in ANSWERS if name.encode() in request)
        stream.sendall(self.failing.get(operation, ANSWERS[operation]))
        return True

    @property
    def calls(self) -> Mapping[str, tuple[Service, Callable[[str], object]]]:
        """A call of each operation for a shop, and the service that it belongs to."""
        number = NUMBERS[self.carrier]
        terms = Terms({PRODUCT[self.carrier]: None}, SAMPLE_SENDER, "Bougies")
        own = {
            "alpha": {
                "shippingMultiParcelV4": (Service.SHIPPING, self.buy),
                "rechercheDetailPointChronopost": (Service.PICKUP_POINTS, self.buy_to_a_point),
                "cancelSkybill": (Service.CANCELLATION, self.of_client("cancel", number)),
                "trackWithSenderRef": (Service.CANCELLATION, self.of_client("find_by_reference", "0RCRUGWGBZDJINQ")),
                "searchPOD": (Service.CANCELLATION, self.of_client("proof_of_delivery", number)),
                "getReservedSkybillWithTypeAndModeAuth": (Service.REPRINTS, self.of_client("fetch_label", "1" * 17)),
                "calculateProducts": (Service.CONTRACT_CHECKS, self.of_client("check_contract", terms)),
                "trackSkybillV2": (Service.TRACKING, self.track),
            },
            "beta": {
                "generateLabel": (Service.SHIPPING, self.buy),
                "findPointRetraitAcheminementByID": (Service.PICKUP_POINTS, self.buy_to_a_point),
                "generateBordereauByParcelsNumbers": (
                    Service.DEPOSIT_SLIPS,
                    self.of_client("deposit_slip", ["6A10000000012", "6A10000000029"]),
                ),
                "checkGenerateLabel": (Service.CONTRACT_CHECKS, self.of_client("check_contract", terms)),
                "timelineCompany": (Service.TRACKING, self.track),
            },
        }
        return own[self.carrier]

    def buy(self, shop_id: str, product_code: str = "") -> None:
        credentials = replace(CREDENTIALS[self.carrier], shop_id=shop_id)
        self.client.create_label(shipment(product_code or PRODUCT[self.carrier]), credentials)

    def buy_to_a_point(self, shop_id: str) -> None:
        self.client._points = PickupPointCache()  # an answer of the last hour would do
        self.buy(shop_id, RELAYS[self.carrier])

    def of_client(self, method: str, argument: object) -> Callable[[str], object]:
        def call(shop_id: str) -> object:
            return getattr(self.client, method)(argument, replace(CREDENTIALS[self.carrier], shop_id=shop_id))

        return call

    def track(self, shop_id: str) -> None:
        self.tracker.track(NUMBERS[self.carrier], replace(CREDENTIALS[self.carrier], shop_id=shop_id))

    def fails(self, operation: str, shop_id: str, answer: bytes) -> None:
        """Let a call of the operation fail."""
        self.failing[operation] = answer
        with pytest.raises(CarrierError):
            self.calls[operation][1](shop_id)
        self.failing.clear()

    def answers(self, shop_id: str) -> dict[str, bool]:
        """Tell of each operation if the carrier is asked."""
        return {operation: is_let_through(partial(call, shop_id)) for operation, (_, call) in self.calls.items()}

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


OPERATIONS = {
    "alpha": [
        *("shippingMultiParcelV4", "rechercheDetailPointChronopost", "cancelSkybill", "trackWithSenderRef"),
        *("searchPOD", "getReservedSkybillWithTypeAndModeAuth", "calculateProducts", "trackSkybillV2"),
    ],
    "beta": [
        *("generateLabel", "findPointRetraitAcheminementByID", "generateBordereauByParcelsNumbers"),
        *("checkGenerateLabel", "timelineCompany"),
    ],
}
EACH = pytest.mark.parametrize(
    ("carrier", "failing"), [(carrier, operation) for carrier, own in OPERATIONS.items() for operation in own]
)


@EACH
def test_ten_failures_of_a_service_stop_no_other(world: World, failing: str) -> None:
    service = world.calls[failing][0]
    for number in range(10):
        world.failing[failing] = OUTAGE
        with pytest.raises(CarrierError):
            world.calls[failing][1](f"shop {number % 2}")
    world.failing.clear()
    stopped = {operation for operation, (own, _) in world.calls.items() if own is service}
    # A purchase to a point takes both services.
    also = {operation for operation, (own, _) in world.calls.items() if own is Service.PICKUP_POINTS}
    stopped |= also if service is Service.SHIPPING else set()
    assert {operation for operation, is_answered in world.answers("a third shop").items() if not is_answered} == stopped
    is_open = {service: CircuitState.OPEN}
    assert world.breakers() == dict.fromkeys(world.breakers(), CircuitState.CLOSED) | is_open


@EACH
def test_successes_of_a_service_close_no_others_circuit(world: World, failing: str) -> None:
    for number in range(THRESHOLD):
        world.fails(failing, f"shop {number % 2}", OUTAGE)
    before = world.breakers()
    world.answers("a third shop")
    assert world.breakers() == before


@BOTH
def test_every_service_of_a_carrier_is_in_the_table(world: World, carrier: str) -> None:
    assert list(world.calls) == OPERATIONS[carrier]
    assert {service for service, _ in world.calls.values()} == set(world.breakers())


@EACH
def test_answers_of_a_carriers_gateway_that_refuse_a_request_stop_nobody(world: World, failing: str) -> None:
    for number in range(10):
        world.fails(failing, f"shop {number % 2}", http(b"<html>Not Acceptable", 406, "text/html"))
    assert all(world.answers("shop 0").values())


def test_orders_of_one_shop_that_beta_chokes_on_stop_nobody(beta: World) -> None:
    for _ in range(10):
        beta.fails("generateLabel", "one", CHOKED_ON)
    assert all(beta.answers("other").values())
    assert all(beta.answers("one").values())


def test_a_failure_that_several_shops_meet_stops_all(beta: World) -> None:
    for _ in range(10):
        beta.fails("generateLabel", "one", CHOKED_ON)
    beta.fails("generateLabel", "other", CHOKED_ON)
    assert not beta.answers("third")["generateLabel"]


@BOTH
def test_a_carrier_that_answers_one_shop_nothing_is_not_asked_for_that_shop_alone(world: World) -> None:
    purchase = next(iter(world.calls))
    for _ in range(THRESHOLD):
        world.fails(purchase, "one", OUTAGE)
    assert not world.answers("one")[purchase]
    asked = len(world.server.requests)
    for _ in range(10):
        assert not is_let_through(partial(world.buy, "one"))
    assert len(world.server.requests) == asked
    assert world.answers("other")[purchase]


@BOTH
def test_another_shops_label_lets_the_first_shop_order_again(world: World) -> None:
    for _ in range(THRESHOLD):
        world.fails(next(iter(world.calls)), "one", OUTAGE)
    world.buy("other")
    world.buy("one")


@BOTH
def test_another_shops_failure_stops_all(world: World) -> None:
    purchase = next(iter(world.calls))
    for _ in range(THRESHOLD):
        world.fails(purchase, "one", OUTAGE)
    world.fails(purchase, "other", OUTAGE)
    assert not world.answers("third")[purchase]


@BOTH
def test_the_shop_that_is_stopped_alone_sends_one_probe_after_the_reset_timeout(world: World) -> None:
    purchase = next(iter(world.calls))
    for _ in range(THRESHOLD):
        world.fails(purchase, "one", OUTAGE)
    breaker = world.client.circuit_breaker
    breaker._opened_at_s -= LIMITS.reset_timeout_s
    world.fails(purchase, "one", OUTAGE)
    assert not is_let_through(partial(world.buy, "one"))
    breaker._opened_at_s -= LIMITS.reset_timeout_s
    world.buy("one")
    assert world.client.circuit_breaker.state is CircuitState.CLOSED


@BOTH
def test_a_shop_whose_probes_alone_fail_stops_itself_alone(world: World) -> None:
    purchase, breaker = next(iter(world.calls)), world.client.circuit_breaker
    for number in range(THRESHOLD):
        world.fails(purchase, f"shop {number % 2}", OUTAGE)
    for _ in range(THRESHOLD):
        breaker._opened_at_s -= LIMITS.reset_timeout_s
        world.fails(purchase, "one", OUTAGE)
    assert not is_let_through(partial(world.buy, "one"))
    assert world.answers("other")[purchase]


def test_the_log_names_the_shop_that_is_stopped_alone(alpha: World, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(THRESHOLD):
        alpha.fails("cancelSkybill", "one", OUTAGE)
    alpha.fails("cancelSkybill", "other", OUTAGE)
    lines = [vars(record) for record in caplog.records if record.name == "carriers.circuit_breaker"]
    told = [{name: line.get(name) for name in ("carrier", "service", "state", "shop")} for line in lines]
    is_open = {"carrier": "alpha", "service": "cancellation", "state": "open"}
    assert told == [is_open | {"shop": "one"}, is_open | {"shop": None}]


def test_what_a_shop_is_stays_with_us(beta: World) -> None:
    for operation, (_, call) in beta.calls.items():
        call("shop_7Q")
        assert b"shop_7Q" not in b"".join(beta.server.requests), operation
