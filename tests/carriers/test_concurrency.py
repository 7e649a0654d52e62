"""Concurrent purchases: the requests that a failing carrier is sent, and connections that are reused."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from carriers.base import Carrier
from carriers.client import Limits
from carriers.errors import CarrierError, CarrierUnavailable
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.control import arm, post
from tests.carriers.support.sandbox import bought, creates, order, sandbox_clients
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT
from tests.carriers.test_circuit_breaker import end_reset_timeout

THREADS = 32
SLOW_S = 1.0  # in which all threads have made their call, on a busy machine too
SENSITIVE = Limits(timeout_s=60, pool_size=THREADS, failure_threshold=3, reset_timeout_s=600)


def buy(client: Carrier) -> str:
    """Return the class of the purchase's error, or "label"."""
    try:
        client.create_label(order(PRODUCT[client.name]), CREDENTIALS[client.name])
    except CarrierError as error:
        return type(error).__name__
    return "label"


def together(count: int, act: Callable[[], str]) -> list[str]:
    """Return the results of threads that start at the same moment."""
    ready = Barrier(count)

    def start() -> str:
        ready.wait(60)
        return act()

    with ThreadPoolExecutor(count) as pool:
        return [future.result(60) for future in [pool.submit(start) for _ in range(count)]]


@BOTH
def test_concurrent_calls_send_one_probe_after_the_reset_timeout(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, SENSITIVE)[carrier]
    arm(sandbox, "close", carrier=carrier, count=3)
    assert [buy(client) for _ in range(3)] == ["OutcomeUnknown"] * 3
    end_reset_timeout(client.circuit_breaker)
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S, count=1)
    ends = together(THREADS, lambda: buy(client))
    assert Counter(ends) == {"label": 1, "CarrierUnavailable": THREADS - 1}
    assert creates(sandbox, carrier) == 3 + 1
    assert set(together(8, lambda: buy(client))) == {"label"}


@BOTH
def test_a_failed_probe_is_the_only_request_until_the_next_reset_timeout(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, SENSITIVE)[carrier]
    arm(sandbox, "close", carrier=carrier)
    assert [buy(client) for _ in range(3)] == ["OutcomeUnknown"] * 3
    end_reset_timeout(client.circuit_breaker)
    ends = together(THREADS, lambda: buy(client))
    assert Counter(ends) == {"OutcomeUnknown": 1, "CarrierUnavailable": THREADS - 1}
    assert creates(sandbox, carrier) == 3 + 1
    post(f"{sandbox.control_url}/reset")
    end_reset_timeout(client.circuit_breaker)
    assert buy(client) == "label"


@BOTH
def test_concurrent_failures_open_the_circuit_once(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, SENSITIVE)[carrier]
    arm(sandbox, "close", carrier=carrier)
    ends = together(THREADS, lambda: buy(client))
    assert set(ends) <= {"OutcomeUnknown", "CarrierUnavailable"}
    assert creates(sandbox, carrier) == ends.count("OutcomeUnknown")
    with pytest.raises(CarrierUnavailable, match="circuit breaker"):
        client.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])


@BOTH
def test_concurrent_purchases_get_a_number_each_on_reused_connections(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=60, pool_size=8))[carrier]

    def buy_some() -> str:
        (end,) = {buy(client) for _ in range(10)}
        return end

    assert set(together(8, buy_some)) == {"label"}
    assert len(set(bought(sandbox, carrier))) == creates(sandbox, carrier) == 80
