"""How much of a process a carrier may take, and when it is given a rest."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from carriers.base import Carrier
from carriers.circuit_breaker import CircuitBreaker, Limits
from carriers.errors import AddressRejected, CarrierError, CarrierUnavailable, OutcomeUnknown
from tests.carriers.conftest import Serve
from tests.carriers.servers import LABEL, always, answer_file, http, once
from tests.carriers.shipments import CREDENTIALS, client, shipment

NERVOUS = Limits(timeout_s=5, failures_before_rest=3, rest_s=600, max_concurrent_calls=16)


def failing(guard: CircuitBreaker, error: CarrierError) -> None:
    with pytest.raises(type(error)), guard.call():
        raise error


def sick() -> CarrierError:
    return OutcomeUnknown("alpha", is_carrier_failing=True)


def end_rest(guard: CircuitBreaker) -> None:
    """Let the time of a rest have passed."""
    assert guard._storage.opened_at
    guard._storage.opened_at -= guard._rest


def guard_of(client: Carrier) -> CircuitBreaker:
    guard: CircuitBreaker = client._line._guard  # type: ignore[attr-defined]  # each client's own
    return guard


def rested(guard: CircuitBreaker) -> None:
    for _ in range(NERVOUS.failures_before_rest):
        failing(guard, sick())


def test_a_full_house_is_unavailable_at_once(serve: Serve) -> None:
    answered, asked = threading.Event(), threading.Event()

    def hold(stream: socket.socket, request: bytes) -> bool:
        asked.set()
        answered.wait(30)
        stream.sendall(LABEL["alpha"])
        return True

    server = serve(hold)
    alpha = client("alpha", server.url, Limits(timeout_s=30, max_concurrent_calls=1))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(alpha.create_label, shipment(), CREDENTIALS["alpha"])
        assert asked.wait(30)
        with pytest.raises(CarrierUnavailable, match="too many calls") as caught:
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
        assert not first.done()
        assert not caught.value.is_carrier_failing
        answered.set()
        assert first.result(30).tracking_numbers == ("XS000000001FR",)
    assert len(server.requests) == 1
    alpha.create_label(shipment(), CREDENTIALS["alpha"])


def test_a_dead_carrier_costs_no_connection(serve: Serve) -> None:
    server = serve(once(b""))
    alpha = client("alpha", server.url, Limits(timeout_s=5, failures_before_rest=3, rest_s=60))
    for _ in range(3):
        with pytest.raises(OutcomeUnknown):
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
    for _ in range(50):
        with pytest.raises(CarrierUnavailable, match="rest"):
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
    with pytest.raises(CarrierUnavailable, match="rest"):
        alpha.refuse_at_rest()
    assert (len(server.requests), server.connections) == (3, 3)


def test_a_rested_carrier_is_probed_and_welcome_when_it_answers(serve: Serve) -> None:
    server = serve(once(b""))
    alpha = client("alpha", server.url, NERVOUS)
    for _ in range(3):
        with pytest.raises(OutcomeUnknown):
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
    server.play = always(LABEL["alpha"])
    end_rest(guard_of(alpha))
    alpha.refuse_at_rest()
    for _ in range(5):
        alpha.create_label(shipment(), CREDENTIALS["alpha"])
    assert len(server.requests) == 8


def test_only_one_call_probes_and_the_others_do_not_wait_for_it() -> None:
    guard = CircuitBreaker("alpha", NERVOUS)
    rested(guard)
    end_rest(guard)
    probing, probed = threading.Event(), threading.Event()

    def probe() -> None:
        with guard.call():
            probing.set()
            probed.wait(30)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(probe)
        assert probing.wait(30)
        for _ in range(10):
            with pytest.raises(CarrierUnavailable), guard.call():
                pytest.fail("a second probe")
        probed.set()
        first.result(30)
    with guard.call():
        pass


def test_a_probe_that_fails_starts_another_rest() -> None:
    guard = CircuitBreaker("alpha", NERVOUS)
    rested(guard)
    end_rest(guard)
    failing(guard, sick())
    with pytest.raises(CarrierUnavailable), guard.call():
        pytest.fail("no rest after a failed probe")
    end_rest(guard)
    with guard.call():
        pass


def test_calls_are_not_put_in_one_line() -> None:
    guard = CircuitBreaker("alpha", NERVOUS)
    together = threading.Barrier(8, timeout=30)

    def meet() -> None:
        with guard.call():
            together.wait()

    with ThreadPoolExecutor(8) as pool:
        for call in [pool.submit(meet) for _ in range(8)]:
            call.result(30)


def test_a_call_that_ends_during_the_rest_changes_nothing() -> None:
    guard = CircuitBreaker("alpha", NERVOUS)
    with guard.call():
        rested(guard)
    with pytest.raises(CarrierUnavailable), guard.call():
        pytest.fail("a late success ended the rest")


def test_failures_count_only_in_a_row() -> None:
    guard = CircuitBreaker("alpha", NERVOUS)
    for _ in range(5):
        failing(guard, sick())
        failing(guard, sick())
        with guard.call():
            pass


def test_refusals_are_no_failures() -> None:
    guard = CircuitBreaker("alpha", NERVOUS)
    for _ in range(10):
        failing(guard, AddressRejected("alpha"))


@pytest.mark.parametrize(
    "answer",
    [
        http(answer_file("alpha_fault.xml"), 500),
        http(answer_file("alpha_refusal.xml").replace(b"@CODE@", b"777")),
    ],
    ids=["a fault", "an undocumented code"],
)
def test_one_shop_cannot_send_a_carrier_to_rest_with_requests_that_it_chokes_on(serve: Serve, answer: bytes) -> None:
    server = serve(always(answer))
    alpha = client("alpha", server.url, NERVOUS)
    for _ in range(10):
        with pytest.raises(CarrierUnavailable):
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
    assert len(server.requests) == 10


def test_what_is_refused_here_is_never_counted(serve: Serve) -> None:
    server = serve(always(LABEL["alpha"]))
    alpha = client("alpha", server.url, NERVOUS)
    for _ in range(10):
        with pytest.raises(AddressRejected):
            alpha.create_label(shipment(recipient={"city": "北京"}), CREDENTIALS["alpha"])
    assert server.requests == []
    alpha.create_label(shipment(), CREDENTIALS["alpha"])
