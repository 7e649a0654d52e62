"""No database connection is held during a long call to a carrier: one that hangs must not keep it from look-ups."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection
from django.utils import timezone

from carriers.http.transport import Answer
from labels.lifecycle import decisions
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from shops.contracts import clients
from tests.labels.conftest import Sandbox, row
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller
from tests.support.sql import value
from tests.support.waiting import WAIT_TIMEOUT_S, until

ORDERED_FROM = {product_code: carrier_code for carrier_code, product_code in PRODUCT.items()}


@pytest.fixture
def long_calls(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let each call to a carrier take until this thread has let go of the database; note whom it was made to."""
    monkeypatch.setattr("shops.contracts.metrics.RELEASED_AFTER_S", 0.0)
    made: list[str] = []
    for carrier_code in PRODUCT:
        transport = clients.client(carrier_code, is_test=False)._transport
        send = transport.post

        def sent_when_released(carrier: str, *args: Any, send: Callable[..., Answer] = send) -> Answer:
            until(lambda: connection.connection is None or connection.connection.closed)
            made.append(carrier)
            return send(carrier, *args)

        monkeypatch.setattr(transport, "post", sent_when_released)
    return made


@pytest.mark.real_services
@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_purchase_keeps_its_own_through_a_quick_call(
    product_code: str, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shops.contracts.metrics.RELEASED_AFTER_S", WAIT_TIMEOUT_S)  # quick on a busy machine too
    before = server_process()
    assert post(buyer, order(product_code), key="k").status_code == 201
    assert server_process() == before


@pytest.mark.real_services
@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_purchase_holds_none_once_a_call_is_long(product_code: str, buyer: Caller, long_calls: list[str]) -> None:
    before = server_process()
    assert post(buyer, order(product_code), key="k").status_code == 201
    assert row().state == LabelState.GENERATED
    assert long_calls == [ORDERED_FROM[product_code]]
    assert server_process() != before


def server_process() -> int:
    """The server's process that this thread is connected to."""
    return int(value("SELECT pg_backend_pid()"))


@pytest.mark.real_services
def test_a_reconciliation_holds_none_once_a_call_is_long(
    buyer: Caller, sandbox: Sandbox, long_calls: list[str]
) -> None:
    bought_unseen(buyer, sandbox)
    assert reconcile() == {LabelState.FAILED: 1}
    assert long_calls == ["alpha"] * 3  # the purchase, the search, the cancellation


@pytest.mark.real_services
def test_an_adoption_holds_none_once_a_call_is_long(buyer: Caller, sandbox: Sandbox, long_calls: list[str]) -> None:
    label = bought_unseen(buyer, sandbox, "nolabel")
    numbers = [parcel.tracking_number for parcel in sandbox.made()]
    assert decisions.adopt(label=label, tracking_numbers=numbers, pdf=None).state == "label_generated"
    assert long_calls == ["alpha"] * 3  # the purchase, the PDF, the search


def bought_unseen(buyer: Caller, sandbox: Sandbox, fault: str = "closemade") -> ShippingLabel:
    """A label that alpha has made without its PDF, and whose lease has ended."""
    sandbox.arm(fault, count=1)
    assert post(buyer, order()).status_code == 502
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    return row()


@pytest.mark.real_services
def test_a_purchase_replaces_one_that_the_server_has_ended(buyer: Caller) -> None:
    assert post(buyer, order(), key="1").status_code == 201
    ended, other = server_process(), connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [ended])
    other.close()
    connection.health_check_done = False  # type: ignore[attr-defined]  # as at the end of a request
    assert post(buyer, order(), key="2").status_code == 201
    assert server_process() != ended


def test_a_purchase_goes_on_where_there_is_no_thread_to_release_it(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Timer, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    assert post(buyer, order(), key="k").status_code == 201
