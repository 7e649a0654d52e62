"""Purchases in the bulkhead: what is too much at a time is refused at once and leaves nothing behind."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django.fixtures import Settings

from carriers.client import Service
from config.ops.metrics import begin_series
from labels.lifecycle import cancelling, db_retry, decisions, purchase
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from shops.contracts import clients
from shops.contracts.bulkhead import bulkhead
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import ContractFactory
from tests.labels.gates import DEADLINE_S, Gate, elsewhere
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, Response
from tests.support.paths import SHIPMENTS
from tests.support.threads import in_threads
from tests.support.waiting import until

BETA = PRODUCT["beta"]
KEY = "k"
TURNED_AWAY = "label_orders_turned_away_total"


def assert_refused(response: Response, carrier_code: str) -> None:
    said = "The carrier is unavailable: too many purchases at a time. Nothing was made; a retry is safe."
    assert assert_coded(response, 502, f"{carrier_code.upper()}_UNAVAILABLE") == said
    assert response["Retry-After"] == "2"


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize("product_code", PRODUCT.values())
@pytest.mark.parametrize("key", [None, KEY])
def test_with_a_full_bulkhead_a_purchase_is_refused_and_nothing_is_written(
    key: str | None, product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    carrier_code = order(product_code)["carrierCode"]
    begin_series()  # an alert needs the zero
    before = REGISTRY.get_sample_value(TURNED_AWAY, {"carrier": carrier_code})
    assert before is not None
    with bulkhead.enter(carrier_code):
        assert_refused(post(buyer, order(product_code), key=key), carrier_code)
        assert REGISTRY.get_sample_value(TURNED_AWAY, {"carrier": carrier_code}) == before + 1
        assert (ShippingLabel.objects.count(), sandbox.calls()) == (0, 0)
    assert post(buyer, order(product_code), key=key).status_code == 201


@pytest.mark.usefixtures("one_at_a_time")
def test_carriers_and_their_orders_and_cancellations_that_hang_leave_each_other_a_bulkhead(buyer: Caller) -> None:
    assert post(buyer, order()).status_code == 201
    with bulkhead.enter("alpha", Service.SHIPPING):
        assert post(buyer, order(BETA)).status_code == 201
        assert cancelling.cancel(ShippingLabel.objects.get(carrier_code="alpha")).state == LabelState.CANCELLED
    with bulkhead.enter("alpha", Service.CANCELLATION):
        assert post(buyer, order()).status_code == 201


@pytest.mark.usefixtures("one_at_a_time")
def test_a_purchase_leaves_the_bulkhead_when_the_label_is_stored(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(monkeypatch, storage, "store") as gate, elsewhere(buyer, order(), "1") as first:
        assert gate.reached.wait(DEADLINE_S)
        assert_refused(post(buyer, order(), key="2"), "alpha")
        assert not first.done()
        assert (ShippingLabel.objects.count(), sandbox.calls()) == (1, 1)
        gate.open.set()
        assert first.result().status_code == 201


@pytest.mark.usefixtures("one_at_a_time")
def test_a_purchase_that_fails_leaves_the_bulkhead(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(purchase, "reserve", Mock(side_effect=OperationalError("gone")))
        patch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", -1)
        assert post(buyer, order()).status_code == 503
    folder.write_text("no folder")
    assert_coded(post(buyer, order()), 500, "LABEL_STORAGE_UNAVAILABLE")
    folder.unlink()
    for fault in ("38", "CLOSE", "NOLABEL"):
        assert post(buyer, order(reference=f"FAULT {fault}")).status_code != 201
    assert post(buyer, order()).status_code == 201


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_with_an_open_circuit_breaker_nothing_is_written_and_replays_go_on(
    product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    first = post(buyer, order(product_code), key=KEY).json()
    sandbox.arm("html503")
    for _ in range(5):
        assert post(buyer, order(product_code)).status_code == 502
    rows, calls = ShippingLabel.objects.count(), sandbox.calls()
    code = f"{first['carrierCode'].upper()}_UNAVAILABLE"
    reason = "the circuit breaker is open after repeated failures"
    said = f"The carrier is unavailable: {reason}. Nothing was made; a retry is safe."
    for key in (None, "another"):
        assert assert_coded(post(buyer, order(product_code), key=key), 502, code) == said
    assert (ShippingLabel.objects.count(), sandbox.calls()) == (rows, calls)
    assert post(buyer, order(product_code), key=KEY).json()["id"] == first["id"]


@pytest.mark.parametrize("fault", ["json500", "html503"])
def test_orders_of_one_shop_that_a_carrier_chokes_on_stop_no_other_shop(
    fault: str, buyer: Caller, other: Caller
) -> None:
    ContractFactory(shop=other.shop, carrier_code="beta")
    for _ in range(10):
        assert post(buyer, order("beta", reference=f"FAULT {fault.upper()}")).status_code == 502
    assert post(other, order("beta")).status_code == 201


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_more_calls_than_a_carrier_may_have_are_refused_at_once(
    product_code: str, buyer: Caller, sandbox: Sandbox, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CARRIER_CONCURRENCY = 2
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", 0.1)
    clients.client.cache_clear()
    sandbox.arm("slow", delay_s=0.7)
    answers = in_threads(6, lambda number: post(buyer, order(product_code, orderId=str(number)), key=f"k{number}"))
    bought = [answer for answer in answers if answer.status_code == 201]
    assert 2 <= len(bought) < 6
    code = f"{order(product_code)['carrierCode'].upper()}_UNAVAILABLE"
    for answer in answers:
        if answer not in bought:
            assert "a retry is safe" in assert_coded(answer, 502, code)
    assert len(sandbox.made()) == len(bought)
    # What was refused has left no row.
    assert list(ShippingLabel.objects.values_list("state", flat=True)) == [LabelState.GENERATED] * len(bought)


# --- Reading ---


@pytest.mark.usefixtures("one_at_a_time")
def test_what_only_reads_passes_the_bulkhead_by(buyer: Caller) -> None:
    first = post(buyer, order(), key=KEY).json()
    with bulkhead.enter("alpha"):
        replay = post(buyer, order(), key=KEY)
        assert (replay.status_code, replay["Idempotent-Replayed"]) == (201, "true")
        assert buyer.get(f"{SHIPMENTS}/{first['id']}").status_code == 200
        assert_coded(post(buyer, order(orderId="another"), key=KEY), 422, "IDEMPOTENCY_KEY_REUSED")
        ShippingLabel.objects.update(state=LabelState.PURCHASING)
        assert_coded(post(buyer, order(), key=KEY), 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
        ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
        assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
        assert post(buyer, order(orderId=1)).status_code == 400


# --- Labels that wait for the storage ---


def received(buyer: Caller, folder: Path) -> ShippingLabel:
    """A label that is bought, and whose PDF the storage refused."""
    folder.write_text("no folder")
    assert_coded(post(buyer, order(), key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    folder.unlink()
    return row()


@pytest.mark.usefixtures("one_at_a_time")
def test_a_label_that_waits_for_the_storage_waits_for_the_bulkhead_only_shortly(
    buyer: Caller, sandbox: Sandbox, folder: Path
) -> None:
    received(buyer, folder)
    with bulkhead.enter("alpha"):
        response = post(buyer, order(), key=KEY)
    assert_coded(response, 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
    assert int(response["Retry-After"]) > 0
    assert row().state == LabelState.RECEIVED
    assert post(buyer, order(), key=KEY).status_code == 201
    assert len(sandbox.made()) == 1


@pytest.mark.usefixtures("one_at_a_time")
def test_a_label_that_waits_for_the_storage_enters_a_bulkhead_that_is_left(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received(buyer, folder)
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)
    with ExitStack() as others:
        others.enter_context(bulkhead.enter("alpha"))
        with elsewhere(buyer, order(), KEY) as retry:
            until(lambda: bulkhead.waiting == 1)
            others.close()
            assert retry.result().status_code == 201


@pytest.mark.usefixtures("one_at_a_time")
def test_a_request_that_waits_finds_what_was_stored_meanwhile(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received(buyer, folder)
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)
    store = Mock(wraps=storage.store)
    monkeypatch.setattr(storage, "store", store)
    with Gate(monkeypatch, storage, "store") as gate, elsewhere(buyer, order(), KEY) as first:
        assert gate.reached.wait(DEADLINE_S)
        with elsewhere(buyer, order(), KEY) as second:
            until(lambda: bulkhead.waiting == 1)
            gate.open.set()
            assert (first.result().status_code, second.result().status_code) == (201, 201)
    store.assert_called_once()


# --- One key at once ---


@pytest.mark.usefixtures("one_at_a_time")
def test_a_key_whose_first_request_is_in_the_bulkhead_and_has_no_row_yet_is_in_progress(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(monkeypatch, purchase, "reserve") as gate, elsewhere(buyer, order(), KEY) as first:
        assert gate.reached.wait(DEADLINE_S)
        assert_coded(post(buyer, order(), key=KEY), 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
        with bulkhead.enter("beta"):
            assert_coded(post(buyer, order(BETA), key=KEY), 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
        assert_refused(post(buyer, order(), key="another"), "alpha")
        gate.open.set()
        assert first.result().status_code == 201
    assert (len(sandbox.made()), ShippingLabel.objects.count()) == (1, 1)
    assert post(buyer, order(), key=KEY)["Idempotent-Replayed"] == "true"


@pytest.mark.usefixtures("one_at_a_time")
def test_a_key_that_another_process_was_faster_with_is_replayed_with_a_full_bulkhead(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = post(buyer, order(), key=KEY).json()
    find, answers = purchase.find_earlier, iter([False, True])
    monkeypatch.setattr(purchase, "find_earlier", lambda *args: find(*args) if next(answers) else None)
    with bulkhead.enter("alpha"):
        second = post(buyer, order(), key=KEY)
    assert (second.status_code, second["Idempotent-Replayed"], second.json()["id"]) == (201, "true", first["id"])
    assert len(sandbox.made()) == 1


@pytest.mark.usefixtures("one_at_a_time", "long_wait")
def test_a_burst_of_orders_is_served_by_a_carrier_that_is_prompt(buyer: Caller, sandbox: Sandbox) -> None:
    assert in_threads(3, lambda number: post(buyer, order(), key=str(number)).status_code) == [201, 201, 201]
    assert len(sandbox.made()) == 3


@pytest.mark.usefixtures("one_at_a_time")
def test_an_adoption_asks_the_carrier_within_the_bulkhead_too(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("nolabel", count=1)
    post(buyer, order(), key=KEY)
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    (parcel,) = sandbox.made()
    numbers = [parcel.tracking_number]
    with (
        bulkhead.enter("alpha", Service.REPRINTS),
        pytest.raises(decisions.NoPdfError, match="Too many requests wait for alpha now"),
    ):
        decisions.adopt(label=row(), tracking_numbers=numbers, pdf=None)
    assert row().state == LabelState.UNKNOWN
    assert decisions.adopt(label=row(), tracking_numbers=numbers, pdf=None).state == LabelState.GENERATED
