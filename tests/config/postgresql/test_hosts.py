"""A process's state of a database's hosts: their order, and the circuit breaker."""

import psycopg
import pytest

from config.postgresql import hosts as hosts_module
from config.postgresql.hosts import Hosts
from tests.support.api import Clock

H1, H2, H3 = ("h1", "5432"), ("h2", "5432"), ("h3", "5432")


def made(*, is_balanced: bool = False) -> Hosts:
    return Hosts("default", [H1, H2, H3], is_balanced=is_balanced)


def fail(hosts: Hosts, clock: Clock, took_s: float = 0.0) -> None:
    with pytest.raises(psycopg.OperationalError, match="no route"), hosts.attempt():  # noqa: PT012 - time passes in it
        clock.tick(took_s)
        raise psycopg.OperationalError("no route")


def reach(hosts: Hosts, host: tuple[str, str]) -> None:
    with hosts.attempt():
        pass
    hosts.note_success(host, hosts.order())


def test_hosts_are_tried_in_the_given_order_and_later_the_last_good_one_first(clock: Clock) -> None:
    hosts = made()
    assert hosts.order() == [H1, H2, H3]
    reach(hosts, H2)
    assert hosts.order() == [H2, H3, H1]  # h1 has failed
    clock.tick(hosts_module.AVOIDED_S)
    assert hosts.order() == [H2, H1, H3]


def test_replicas_are_tried_in_random_order(clock: Clock) -> None:
    hosts = made(is_balanced=True)
    assert {tuple(hosts.order()) for _ in range(200)} == {
        (H1, H2, H3), (H1, H3, H2), (H2, H1, H3), (H2, H3, H1), (H3, H1, H2), (H3, H2, H1),
    }  # fmt: skip


def test_a_replica_that_fell_silent_is_tried_last_for_a_while(clock: Clock) -> None:
    hosts = made(is_balanced=True)
    hosts.note_silence(H2)
    assert {hosts.order()[2] for _ in range(50)} == {H2}
    clock.tick(hosts_module.AVOIDED_S)
    assert {hosts.order()[2] for _ in range(200)} == {H1, H2, H3}


def test_after_a_failure_connecting_fails_at_once_until_the_back_off_ends(clock: Clock) -> None:
    hosts = made()
    fail(hosts, clock)
    with pytest.raises(psycopg.OperationalError, match="a moment ago"), hosts.attempt():
        pytest.fail("nobody should try")
    clock.tick(hosts_module.MIN_BACK_OFF_S)
    reach(hosts, H1)
    reach(hosts, H1)


def test_the_back_off_is_as_long_as_the_failure_took_within_bounds(clock: Clock) -> None:
    for took_s, back_off_s in ((0.0, 0.25), (1.5, 1.5), (60.0, 2.0)):
        hosts = made()
        fail(hosts, clock, took_s)
        assert hosts.next_attempt_at - clock.now_s == pytest.approx(back_off_s)


def test_half_open_one_thread_tries(clock: Clock) -> None:
    hosts = made()
    fail(hosts, clock)
    clock.tick(1)
    with hosts.attempt(), pytest.raises(psycopg.OperationalError, match="a moment ago"), hosts.attempt():
        pytest.fail("nobody else should try")


def test_while_the_circuit_is_closed_all_connect_at_once(clock: Clock) -> None:
    hosts = made()
    with hosts.attempt(), hosts.attempt(), hosts.attempt():
        pass


def test_a_silent_host_loses_its_connections_and_no_others(clock: Clock) -> None:
    hosts = made()
    before = clock.now_s
    clock.tick(1)
    hosts.note_silence(H1)
    assert hosts.is_lost(H1, before)
    assert not hosts.is_lost(H2, before)
    clock.tick(1)
    assert not hosts.is_lost(H1, clock.now_s)


def test_an_error_of_our_own_does_not_open_the_circuit(clock: Clock) -> None:
    hosts = made()
    with pytest.raises(psycopg.ProgrammingError), hosts.attempt():
        raise psycopg.ProgrammingError("bad parameter")
    with hosts.attempt():
        pass
