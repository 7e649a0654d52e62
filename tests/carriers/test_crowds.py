"""Many threads buy at a time: what is refused, and how many requests a sick carrier is sent."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from carriers.base import Carrier
from carriers.circuit_breaker import Limits
from carriers.errors import CarrierError, CarrierUnavailable
from carriers.sandbox.server import SandboxServer
from tests.carriers.buying import bought, creates, order, sandbox_clients
from tests.carriers.sandbox.control import arm, post
from tests.carriers.shipments import BOTH, CREDENTIALS, PRODUCT
from tests.carriers.test_circuit_breaker import end_rest, guard_of
from tests.support.waiting import until

CROWD = 32
CALLS = 4
SLOW_S = 3.0  # in which the whole crowd has come, on a busy machine too
NERVOUS = Limits(timeout_s=60, max_concurrent_calls=CROWD, failures_before_rest=3, rest_s=600)


def buy(client: Carrier) -> str:
    """The kind of a purchase's end."""
    try:
        client.create_label(order(PRODUCT[client.name]), CREDENTIALS[client.name])
    except CarrierError as error:
        return type(error).__name__
    return "label"


def together(count: int, act: Callable[[], str]) -> list[str]:
    """What so many threads get that start at the same moment."""
    ready = Barrier(count)

    def start() -> str:
        ready.wait(60)
        return act()

    with ThreadPoolExecutor(count) as pool:
        return [future.result(120) for future in [pool.submit(start) for _ in range(count)]]


@BOTH
def test_a_full_house_refuses_at_once_and_the_others_get_their_labels(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=60, max_concurrent_calls=CALLS))[carrier]
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S)
    ends = together(CROWD, lambda: buy(client))
    # Whoever waited for a place would have had a label, too.
    assert Counter(ends) == {"label": CALLS, "CarrierUnavailable": CROWD - CALLS}
    assert (len(bought(sandbox, carrier)), creates(sandbox, carrier)) == (CALLS, CALLS)
    assert buy(client) == "label"


@BOTH
def test_the_carriers_have_houses_of_their_own(sandbox: SandboxServer, carrier: str) -> None:
    clients = sandbox_clients(sandbox, Limits(timeout_s=60, max_concurrent_calls=1))
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S)
    other = {"alpha": "beta", "beta": "alpha"}[carrier]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(buy, clients[carrier])
        until(lambda: creates(sandbox, carrier))
        assert buy(clients[other]) == "label"
        assert waiting.result() == "label"


@BOTH
def test_a_resting_carrier_costs_no_request(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier)
    assert [buy(client) for _ in range(3)] == ["OutcomeUnknown"] * 3
    assert {buy(client) for _ in range(100)} == {"CarrierUnavailable"}
    assert creates(sandbox, carrier) == 3


@BOTH
def test_a_crowd_sends_one_probe_after_the_rest(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier, count=3)
    assert [buy(client) for _ in range(3)] == ["OutcomeUnknown"] * 3
    end_rest(guard_of(client))
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S, count=1)
    ends = together(CROWD, lambda: buy(client))
    assert Counter(ends) == {"label": 1, "CarrierUnavailable": CROWD - 1}
    assert creates(sandbox, carrier) == 3 + 1
    assert set(together(8, lambda: buy(client))) == {"label"}


@BOTH
def test_a_crowds_probe_that_fails_is_the_only_request_of_another_rest(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier)
    assert [buy(client) for _ in range(3)] == ["OutcomeUnknown"] * 3
    end_rest(guard_of(client))
    ends = together(CROWD, lambda: buy(client))
    assert Counter(ends) == {"OutcomeUnknown": 1, "CarrierUnavailable": CROWD - 1}
    assert creates(sandbox, carrier) == 3 + 1
    post(f"{sandbox.control_url}/reset")
    end_rest(guard_of(client))
    assert buy(client) == "label"


@BOTH
def test_a_crowd_that_fails_together_opens_one_rest(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, NERVOUS)[carrier]
    arm(sandbox, "close", carrier=carrier)
    ends = together(CROWD, lambda: buy(client))
    assert set(ends) <= {"OutcomeUnknown", "CarrierUnavailable"}
    assert creates(sandbox, carrier) == ends.count("OutcomeUnknown")
    with pytest.raises(CarrierUnavailable, match="rest"):
        client.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])


@BOTH
def test_a_crowd_buys_a_number_each_on_connections_that_are_used_again(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=60, max_concurrent_calls=8))[carrier]

    def buy_some() -> str:
        (end,) = {buy(client) for _ in range(10)}
        return end

    assert set(together(8, buy_some)) == {"label"}
    assert len(set(bought(sandbox, carrier))) == creates(sandbox, carrier) == 80
