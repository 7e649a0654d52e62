"""Many threads buy at a time: what is refused, how fast, and how many requests a sick carrier is sent."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from carriers.base import Carrier
from carriers.errors import CarrierError, CarrierUnavailable
from carriers.guard import Limits
from carriers.sandbox.server import SandboxServer
from tests.carriers.buying import bought, creates, order, sandbox_clients
from tests.carriers.sandbox.orders import arm, post
from tests.carriers.shipments import BOTH, CREDENTIALS, PRODUCT

CROWD = 32
CALLS = 4
REST_S = 0.5
SLOW_S = 1.0
NERVOUS = Limits(timeout_s=5, max_concurrent_calls=CROWD, failures_before_rest=3, rest_s=REST_S)


def buy(client: Carrier) -> tuple[str, float]:
    """The kind of a purchase's end, and how many seconds it took."""
    shipment, credentials = order(PRODUCT[client.name]), CREDENTIALS[client.name]
    started_s = time.monotonic()
    try:
        client.create_label(shipment, credentials)
    except CarrierError as error:
        return type(error).__name__, time.monotonic() - started_s
    return "label", time.monotonic() - started_s


def together(count: int, act: Callable[[], tuple[str, float]]) -> list[tuple[str, float]]:
    """What so many threads get that start at the same moment."""
    ready = Barrier(count)

    def start() -> tuple[str, float]:
        ready.wait(10)
        return act()

    with ThreadPoolExecutor(count) as pool:
        return [future.result(30) for future in [pool.submit(start) for _ in range(count)]]


@BOTH
def test_a_full_house_refuses_at_once_and_the_others_get_their_labels(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=10, max_concurrent_calls=CALLS))[carrier]
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S)
    ends = together(CROWD, lambda: buy(client))
    assert Counter(end for end, _ in ends) == {"label": CALLS, "CarrierUnavailable": CROWD - CALLS}
    # Far from the second that the others wait; a crowd of threads shares one interpreter.
    assert max(took_s for end, took_s in ends if end != "label") < SLOW_S / 2
    assert (len(bought(sandbox, carrier)), creates(sandbox, carrier)) == (CALLS, CALLS)
    assert buy(client)[0] == "label"


@BOTH
def test_the_carriers_have_houses_of_their_own(sandbox: SandboxServer, carrier: str) -> None:
    clients = sandbox_clients(sandbox, Limits(timeout_s=5, max_concurrent_calls=1))
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S)
    other = {"alpha": "beta", "beta": "alpha"}[carrier]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(buy, clients[carrier])
        while creates(sandbox, carrier) == 0:
            time.sleep(0.01)
        assert buy(clients[other])[0] == "label"
        assert waiting.result()[0] == "label"


@BOTH
def test_a_resting_carrier_costs_milliseconds_and_no_request(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=5, failures_before_rest=3, rest_s=60))[carrier]
    arm(sandbox, "close", carrier=carrier)
    assert [buy(client)[0] for _ in range(3)] == ["OutcomeUnknown"] * 3
    ends = [buy(client) for _ in range(100)]
    assert {end for end, _ in ends} == {"CarrierUnavailable"}
    assert sorted(took_s for _, took_s in ends)[50] < 0.005
    assert creates(sandbox, carrier) == 3


@BOTH
def test_a_crowd_sends_one_probe_after_the_rest(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier, count=3)
    assert [buy(client)[0] for _ in range(3)] == ["OutcomeUnknown"] * 3
    time.sleep(REST_S)
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S, count=1)
    ends = together(CROWD, lambda: buy(client))
    assert Counter(end for end, _ in ends) == {"label": 1, "CarrierUnavailable": CROWD - 1}
    assert creates(sandbox, carrier) == 3 + 1
    assert {end for end, _ in together(8, lambda: buy(client))} == {"label"}


@BOTH
def test_a_crowds_probe_that_fails_is_the_only_request_of_another_rest(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier)
    assert [buy(client)[0] for _ in range(3)] == ["OutcomeUnknown"] * 3
    time.sleep(REST_S)
    ends = together(CROWD, lambda: buy(client))
    assert Counter(end for end, _ in ends) == {"OutcomeUnknown": 1, "CarrierUnavailable": CROWD - 1}
    assert creates(sandbox, carrier) == 3 + 1
    post(f"{sandbox.control_url}/reset")
    time.sleep(REST_S)
    assert buy(client)[0] == "label"


@BOTH
def test_a_crowd_that_fails_together_opens_one_rest(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier)
    ends = together(CROWD, lambda: buy(client))
    assert {end for end, _ in ends} <= {"OutcomeUnknown", "CarrierUnavailable"}
    assert creates(sandbox, carrier) == sum(end == "OutcomeUnknown" for end, _ in ends)
    with pytest.raises(CarrierUnavailable, match="rest"):
        client.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])


@BOTH
def test_a_crowd_buys_a_number_each_on_connections_that_are_used_again(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=10, max_concurrent_calls=8))[carrier]

    def buy_some() -> tuple[str, float]:
        ends = [buy(client) for _ in range(10)]
        assert {end for end, _ in ends} == {"label"}
        return ends[0]

    together(8, buy_some)
    assert len(set(bought(sandbox, carrier))) == creates(sandbox, carrier) == 80
