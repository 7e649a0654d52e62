"""A host's clock that is off, and a process that is suspended, buy nothing twice."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState
from shops.contracts import clients
from shops.db import clock
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import KEY, interrupt
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller

TWENTY_MINUTES = timedelta(minutes=20)
Skew = Callable[[timedelta], None]


@pytest.fixture
def skew(monkeypatch: pytest.MonkeyPatch) -> Skew:
    """Set this host's clock wrong."""
    right = timezone.now

    def set_wrong(by: timedelta) -> None:
        def wrong() -> datetime:
            return right() + by

        monkeypatch.setattr("time.time", lambda: wrong().timestamp())
        monkeypatch.setattr("django.utils.timezone.now", wrong)

    return set_wrong


def during_the_call(carrier_code: str, do: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Do something between the check of the lease and the carrier's call; return what it returned."""
    client, seen = clients.client(carrier_code, is_test=False), []

    def create_label(*args: Any, buy: Any = client.create_label) -> Any:
        seen.append(do())
        return buy(*args)

    monkeypatch.setattr(client, "create_label", create_label)
    return seen


@pytest.mark.real_services
@pytest.mark.parametrize("by", [-TWENTY_MINUTES, TWENTY_MINUTES])
def test_a_purchase_on_a_host_that_is_off_is_left_to_it(
    by: timedelta, buyer: Caller, sandbox: Sandbox, skew: Skew, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reconcile_on_another_host() -> Any:
        skew(timedelta())
        return reconcile()

    seen = during_the_call("alpha", reconcile_on_another_host, monkeypatch)
    skew(by)
    assert post(buyer, order(), key=KEY).status_code == 201
    assert (seen, sandbox.questions(), len(sandbox.made())) == ([{}], 0, 1)


@pytest.mark.real_services
@pytest.mark.parametrize("by", [-TWENTY_MINUTES, TWENTY_MINUTES])
def test_a_host_that_is_off_goes_by_the_databases_leases(
    by: timedelta, buyer: Caller, sandbox: Sandbox, skew: Skew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "MAX_OFFSET_S", float("inf"))

    def reconcile_on_a_host_that_is_off() -> Any:
        skew(by)
        return reconcile()

    seen = during_the_call("alpha", reconcile_on_a_host_that_is_off, monkeypatch)
    assert post(buyer, order(), key=KEY).status_code == 201
    assert (seen, sandbox.questions(), len(sandbox.made())) == ([{}], 0, 1)


@pytest.mark.real_services
def test_a_contract_that_a_host_behind_has_changed_counts_as_changed(
    buyer: Caller, sandbox: Sandbox, skew: Skew, settings: Settings
) -> None:
    interrupt(buyer, sandbox, "close")
    skew(-TWENTY_MINUTES)
    mine = buyer.shop.contracts.get(carrier_code="alpha")
    mine.save()
    assert mine.updated_at > row().created_at


def test_the_reconciliation_of_a_host_that_is_off_does_nothing(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    LabelFactory(shop=own.shop, state="received")
    monkeypatch.setattr(clock, "now", lambda: timezone.now() + TWENTY_MINUTES)
    assert reconcile() == {}
    monkeypatch.undo()
    assert reconcile() == {LabelState.GENERATED: 1}


# --- A process that is suspended ---


def suspended(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock that runs through a suspend go on, as after a SIGSTOP or a machine's sleep."""
    boot_time = time.clock_gettime
    monkeypatch.setattr("time.clock_gettime", lambda which: boot_time(which) + seconds)


@pytest.mark.parametrize("carrier_code", PRODUCT)
def test_a_process_suspended_after_the_check_of_its_lease_sends_nothing(
    carrier_code: str, buyer: Caller, sandbox: Sandbox, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_the_call(carrier_code, lambda: suspended(settings.CARRIER_TIMEOUT, monkeypatch), monkeypatch)
    assert_coded(post(buyer, order(PRODUCT[carrier_code]), key=KEY), 502, f"{carrier_code.upper()}_UNAVAILABLE")
    assert (sandbox.calls(), row().state) == (0, LabelState.FAILED)
