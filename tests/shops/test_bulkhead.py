"""The bulkhead itself: no more may be under way or wait than it admits."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from pytest_django.fixtures import Settings

from carriers.client import Service
from shops.contracts.bulkhead import WAIT_TIMEOUT_S, Bulkhead, BulkheadFullError, KeyInUseError, Place
from tests.support.waiting import until

DEADLINE_S = 3600


@pytest.fixture(autouse=True)
def one_at_a_time(settings: Settings) -> None:
    settings.CARRIER_CONCURRENCY = 1


@pytest.fixture
def long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let requests wait as long as a busy machine needs."""
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)


def enter(own: Bulkhead, carrier_code: str, key: str | None = None) -> None:
    with own.enter(carrier_code, key=key):
        pass


def test_nobody_waits_for_longer_than_a_client_calls_quick() -> None:
    assert WAIT_TIMEOUT_S <= 1


@pytest.mark.usefixtures("long_wait")
def test_no_more_wait_than_may_be_under_way() -> None:
    own = Bulkhead()
    with ThreadPoolExecutor(2) as pool:
        with own.enter("alpha"):
            waiters = [pool.submit(enter, own, "alpha") for _ in range(2)]
            until(lambda: own.waiting == 2)
            with pytest.raises(BulkheadFullError):
                enter(own, "alpha")
            enter(own, "beta")  # which has its own
            with own.enter("alpha", Service.CANCELLATION):  # which has its own too
                assert own.taken == 4
            assert own.taken == 3
        for waiter in waiters:
            waiter.result()
    assert own.taken == 0


@pytest.mark.usefixtures("long_wait")
def test_a_carrier_that_is_silent_is_not_waited_for() -> None:
    own = Bulkhead()
    with own.enter("alpha"):
        own._changed_at[Place("alpha", Service.SHIPPING)] -= DEADLINE_S
        with pytest.raises(BulkheadFullError):
            enter(own, "alpha")


def test_while_the_database_is_away_a_place_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", 0)
    own = Bulkhead()
    with ThreadPoolExecutor(1) as pool:
        with own.enter("alpha"):
            own.patient_until = time.monotonic() + 60
            waiter = pool.submit(enter, own, "alpha")
            until(lambda: own.waiting == 1)
        waiter.result()


@pytest.mark.usefixtures("long_wait")
def test_a_key_in_use_is_told_at_once_while_the_bulkhead_has_room_too() -> None:
    own = Bulkhead()
    with ThreadPoolExecutor(1) as pool, ExitStack() as others:
        others.enter_context(own.enter("alpha"))
        waiter = pool.submit(enter, own, "alpha", "k")
        until(lambda: own.waiting == 1)
        others.enter_context(own.enter("beta", key="k"))
        with pytest.raises(KeyInUseError):
            waiter.result()
        with pytest.raises(KeyInUseError):
            enter(own, "beta", "k")
