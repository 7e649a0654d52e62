"""The circuit breaker: which failures open it, what it refuses meanwhile, and the probe that closes it."""

import threading
from collections import Counter

import pytest

from carriers.base import Carrier
from carriers.circuit_breaker import CircuitBreaker
from carriers.client import Limits
from carriers.errors import AddressRejected, CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.sandbox.server import SandboxServer
from tests.carriers.conftest import Serve
from tests.carriers.sandbox.control import arm, post
from tests.carriers.support.sandbox import bought, creates, order, sandbox_clients
from tests.carriers.support.servers import once
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client, shipment
from tests.support.threads import in_threads

FAILURE_THRESHOLD = 3
SENSITIVE = Limits(timeout_s=5, failure_threshold=FAILURE_THRESHOLD, reset_timeout_s=600)


@pytest.fixture
def breaker() -> CircuitBreaker:
    return CircuitBreaker("alpha", FAILURE_THRESHOLD, reset_timeout_s=600)


def fail(breaker: CircuitBreaker, error: CarrierError | None = None) -> None:
    """Make a call that fails, by default through the carrier's fault."""
    error = error or OutcomeUnknown("alpha", is_carrier_failing=True)
    with pytest.raises(type(error)), breaker.call():
        raise error


def open_circuit(breaker: CircuitBreaker) -> None:
    for _ in range(FAILURE_THRESHOLD):
        fail(breaker)
    assert breaker.state == "open"


def end_reset_timeout(breaker: CircuitBreaker) -> None:
    breaker._opened_at_s -= breaker._reset_timeout_s
    assert breaker.state == "half-open"


@BOTH
def test_an_open_circuit_costs_no_connection(serve: Serve, carrier: str) -> None:
    server = serve(once(b""))
    buyer = client(carrier, server.url, SENSITIVE)
    for _ in range(3):
        with pytest.raises(OutcomeUnknown):
            buyer.create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
    for _ in range(100):
        with pytest.raises(CarrierUnavailable, match="circuit breaker"):
            buyer.create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
    with pytest.raises(CarrierUnavailable, match="circuit breaker"):
        buyer.circuit_breaker.refuse_if_open()
    assert (len(server.requests), server.connections) == (3, 3)


def test_a_probe_that_ends_in_a_bug_leaves_the_circuit_half_open(breaker: CircuitBreaker) -> None:
    open_circuit(breaker)
    end_reset_timeout(breaker)
    with pytest.raises(KeyError), breaker.call():
        raise KeyError
    assert breaker.state == "half-open"
    with breaker.call():
        pass
    assert breaker.state == "closed"


def test_calls_run_at_the_same_time(breaker: CircuitBreaker) -> None:
    together = threading.Barrier(8, timeout=30)

    def meet(_: int) -> None:
        with breaker.call():
            together.wait()

    in_threads(8, meet)


def test_a_call_that_ends_while_the_circuit_is_open_changes_nothing(breaker: CircuitBreaker) -> None:
    with breaker.call():
        open_circuit(breaker)
    with pytest.raises(CarrierUnavailable, match="the circuit breaker is open"), breaker.call():
        pytest.fail("a call was let through")


def test_only_failures_in_a_row_open_the_circuit(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        fail(breaker)
        fail(breaker)
        with breaker.call():
            pass


def test_refusals_are_no_failures(breaker: CircuitBreaker) -> None:
    for _ in range(10):
        fail(breaker, AddressRejected("alpha"))


# Concurrent purchases

THREADS = 32
SLOW_S = 1.0  # in which all threads have made their call, on a busy machine too
CROWDED = Limits(timeout_s=60, pool_size=THREADS, failure_threshold=3, reset_timeout_s=600)


def buy(client: Carrier) -> str:
    """Return the class of the purchase's error, or "label"."""
    try:
        client.create_label(order(PRODUCT[client.name]), CREDENTIALS[client.name])
    except CarrierError as error:
        return type(error).__name__
    return "label"


def half_open(sandbox: SandboxServer, carrier: str, **faults: int) -> Carrier:
    """Return a client whose reset timeout is over after three failures."""
    client = sandbox_clients(sandbox, CROWDED)[carrier]
    arm(sandbox, "close", carrier=carrier, **faults)
    assert [buy(client) for _ in range(3)] == ["OutcomeUnknown"] * 3
    end_reset_timeout(client.circuit_breaker)
    return client


@BOTH
def test_concurrent_calls_send_one_probe_after_the_reset_timeout(sandbox: SandboxServer, carrier: str) -> None:
    client = half_open(sandbox, carrier, count=3)
    arm(sandbox, "slow", carrier=carrier, delay_s=SLOW_S, count=1)
    ends = in_threads(THREADS, lambda _: buy(client))
    assert Counter(ends) == {"label": 1, "CarrierUnavailable": THREADS - 1}
    assert creates(sandbox, carrier) == 3 + 1
    assert set(in_threads(8, lambda _: buy(client))) == {"label"}


@BOTH
def test_a_failed_probe_is_the_only_request_until_the_next_reset_timeout(sandbox: SandboxServer, carrier: str) -> None:
    client = half_open(sandbox, carrier)
    ends = in_threads(THREADS, lambda _: buy(client))
    assert Counter(ends) == {"OutcomeUnknown": 1, "CarrierUnavailable": THREADS - 1}
    assert creates(sandbox, carrier) == 3 + 1
    post(f"{sandbox.control_url}/reset")
    end_reset_timeout(client.circuit_breaker)
    assert buy(client) == "label"


@BOTH
def test_concurrent_failures_open_the_circuit_once(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, CROWDED)[carrier]
    arm(sandbox, "close", carrier=carrier)
    ends = in_threads(THREADS, lambda _: buy(client))
    assert set(ends) <= {"OutcomeUnknown", "CarrierUnavailable"}
    assert creates(sandbox, carrier) == ends.count("OutcomeUnknown")
    with pytest.raises(CarrierUnavailable, match="circuit breaker"):
        client.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])


@BOTH
def test_concurrent_purchases_get_a_number_each_on_reused_connections(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox, Limits(timeout_s=60, pool_size=8))[carrier]

    def buy_some(_: int) -> str:
        (end,) = {buy(client) for _ in range(10)}
        return end

    assert set(in_threads(8, buy_some)) == {"label"}
    assert len(set(bought(sandbox, carrier))) == creates(sandbox, carrier) == 80
