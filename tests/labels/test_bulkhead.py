"""Slots: what is too much at a time is refused at once and leaves nothing behind, and what only reads needs none."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from django.db import OperationalError, connections
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels import decisions, purchase, storage
from labels.bulkhead import WAIT_TIMEOUT_S, Bulkhead, BulkheadFullError, bulkhead
from labels.models import LabelState, ShippingLabel
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, Response
from tests.support.paths import SHIPMENTS
from tests.support.waiting import until

BETA = PRODUCT["beta"]
KEY = "k"
DEADLINE_S = 60


@pytest.fixture
def one_slot(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each carrier, which nobody waits for unless the test says so."""
    settings.CARRIER_CONCURRENCY = 1
    monkeypatch.setattr("labels.bulkhead.WAIT_TIMEOUT_S", 0.0)


@contextmanager
def all_taken(carrier_code: str = "alpha") -> Iterator[None]:
    """Let other requests hold the one slot."""
    with bulkhead.hold(carrier_code):
        yield


@contextmanager
def elsewhere(caller: Caller, body: Any, key: str) -> Iterator["Future[Response]"]:
    """Order a label in another thread."""

    def order_it() -> Response:
        try:
            return post(caller, body, key=key)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(order_it)


class Gate:
    """Holds a function up where it is reached, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        inner = getattr(owner, name)

        def held_up(*args: Any) -> Any:
            self.reached.set()
            assert self.open.wait(DEADLINE_S)
            return inner(*args)

        monkeypatch.setattr(owner, name, held_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.open.set()


def assert_refused(response: Response, carrier_code: str) -> None:
    said = "The carrier is unavailable: too many purchases at a time. Nothing was made; a retry is safe."
    assert assert_coded(response, 502, f"{carrier_code.upper()}_UNAVAILABLE") == said


@pytest.mark.usefixtures("one_slot")
@pytest.mark.parametrize("product_code", PRODUCT.values())
@pytest.mark.parametrize("key", [None, KEY])
def test_without_a_slot_a_purchase_is_refused_and_nothing_is_written(
    key: str | None, product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    carrier_code = order(product_code)["carrierCode"]
    with all_taken(carrier_code):
        assert_refused(post(buyer, order(product_code), key=key), carrier_code)
        assert (ShippingLabel.objects.count(), sandbox.calls()) == (0, 0)
    assert post(buyer, order(product_code), key=key).status_code == 201


@pytest.mark.usefixtures("one_slot")
def test_a_carrier_that_hangs_leaves_the_other_its_slots(buyer: Caller) -> None:
    with all_taken("alpha"):
        assert post(buyer, order(BETA)).status_code == 201


@pytest.mark.usefixtures("one_slot")
def test_a_slot_is_held_until_the_label_is_stored(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(monkeypatch, storage, "store") as gate, elsewhere(buyer, order(), "1") as first:
        assert gate.reached.wait(DEADLINE_S)
        assert_refused(post(buyer, order(), key="2"), "alpha")
        assert not first.done()
        assert (ShippingLabel.objects.count(), sandbox.calls()) == (1, 1)
        gate.open.set()
        assert first.result().status_code == 201


@pytest.mark.usefixtures("one_slot")
@pytest.mark.parametrize("reference", ["FAULT 38", "FAULT CLOSE", "FAULT NOLABEL"])
def test_a_purchase_that_fails_gives_its_slot_back(reference: str, buyer: Caller) -> None:
    assert post(buyer, order(reference=reference)).status_code != 201
    assert post(buyer, order()).status_code == 201


@pytest.mark.usefixtures("one_slot")
def test_a_purchase_that_the_database_or_the_storage_ends_gives_its_slot_back(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(label: ShippingLabel) -> None:
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(purchase, "reserve", fail)
        assert post(buyer, order()).status_code == 500
    folder.write_text("no folder")
    assert_coded(post(buyer, order()), 500, "LABEL_STORAGE_UNAVAILABLE")
    folder.unlink()
    assert post(buyer, order()).status_code == 201


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_carrier_that_is_given_a_rest_costs_no_row_and_replays_go_on(
    product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    first = post(buyer, order(product_code), key=KEY).json()
    sandbox.arm("html503")
    for _ in range(5):
        assert post(buyer, order(product_code)).status_code == 502
    rows, calls = ShippingLabel.objects.count(), sandbox.calls()
    code = f"{first['carrierCode'].upper()}_UNAVAILABLE"
    reason = "The carrier is unavailable: the circuit breaker is open after repeated failures."
    said = f"{reason} Nothing was made; a retry is safe."
    for key in (None, "another"):
        assert assert_coded(post(buyer, order(product_code), key=key), 502, code) == said
    assert (ShippingLabel.objects.count(), sandbox.calls()) == (rows, calls)
    assert post(buyer, order(product_code), key=KEY).json()["id"] == first["id"]


# --- What needs none ---


@pytest.mark.usefixtures("one_slot")
def test_what_only_reads_needs_no_slot(buyer: Caller) -> None:
    first = post(buyer, order(), key=KEY).json()
    with all_taken():
        replay = post(buyer, order(), key=KEY)
        assert (replay.status_code, replay["Idempotent-Replayed"]) == (201, "true")
        assert buyer.get(f"{SHIPMENTS}/{first['id']}").status_code == 200
        assert_coded(post(buyer, order(orderId="another"), key=KEY), 422, "IDEMPOTENCY_KEY_REUSED")
        ShippingLabel.objects.update(state=LabelState.PURCHASING)
        assert_coded(post(buyer, order(), key=KEY), 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
        ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
        assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
        assert post(buyer, order(orderId=1)).status_code == 400


# --- What waits for the storage ---


def received(buyer: Caller, folder: Path) -> ShippingLabel:
    """A label that is bought, and whose PDF the storage refused."""
    folder.write_text("no folder")
    assert_coded(post(buyer, order(), key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    folder.unlink()
    return row()


@pytest.mark.usefixtures("one_slot")
def test_a_label_that_waits_for_the_storage_waits_for_a_slot_only_shortly(
    buyer: Caller, sandbox: Sandbox, folder: Path
) -> None:
    received(buyer, folder)
    with all_taken():
        response = post(buyer, order(), key=KEY)
    assert_coded(response, 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
    assert int(response["Retry-After"]) > 0
    assert row().state == LabelState.RECEIVED
    assert post(buyer, order(), key=KEY).status_code == 201
    assert len(sandbox.made()) == 1


@pytest.mark.usefixtures("one_slot")
def test_a_label_that_waits_for_the_storage_takes_a_slot_that_becomes_free(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received(buyer, folder)
    monkeypatch.setattr("labels.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)
    with ExitStack() as others:
        others.enter_context(all_taken())
        with elsewhere(buyer, order(), KEY) as retry:
            until(lambda: bulkhead._waiting == 1)
            others.close()
            assert retry.result().status_code == 201


@pytest.mark.usefixtures("one_slot")
def test_who_waits_finds_what_was_stored_meanwhile(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received(buyer, folder)
    monkeypatch.setattr("labels.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)
    stored, store = [], storage.store

    def counted(label: ShippingLabel, pdf: bytes) -> None:
        stored.append(label.id)
        store(label, pdf)

    monkeypatch.setattr(storage, "store", counted)
    with Gate(monkeypatch, storage, "store") as gate, elsewhere(buyer, order(), KEY) as first:
        assert gate.reached.wait(DEADLINE_S)
        with elsewhere(buyer, order(), KEY) as second:
            until(lambda: bulkhead._waiting == 1)
            gate.open.set()
            assert (first.result().status_code, second.result().status_code) == (201, 201)
    assert len(stored) == 1


# --- One key at once ---


@pytest.mark.usefixtures("one_slot")
def test_a_key_whose_first_request_has_the_slot_and_no_row_yet_is_in_progress(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(monkeypatch, purchase, "reserve") as gate, elsewhere(buyer, order(), KEY) as first:
        assert gate.reached.wait(DEADLINE_S)
        assert_coded(post(buyer, order(), key=KEY), 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
        with all_taken("beta"):
            assert_coded(post(buyer, order(BETA), key=KEY), 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
        assert_refused(post(buyer, order(), key="another"), "alpha")
        gate.open.set()
        assert first.result().status_code == 201
    assert (len(sandbox.made()), ShippingLabel.objects.count()) == (1, 1)
    assert post(buyer, order(), key=KEY)["Idempotent-Replayed"] == "true"


@pytest.mark.usefixtures("one_slot")
def test_a_key_that_another_process_was_faster_with_is_replayed_without_a_slot(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = post(buyer, order(), key=KEY).json()
    find, answers = purchase.find_earlier, iter([False, True])
    monkeypatch.setattr(purchase, "find_earlier", lambda *args: find(*args) if next(answers) else None)
    with all_taken():
        second = post(buyer, order(), key=KEY)
    assert (second.status_code, second["Idempotent-Replayed"], second.json()["id"]) == (201, "true", first["id"])
    assert len(sandbox.made()) == 1


# --- The slots themselves ---


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labels.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)


def take(own: Bulkhead, carrier_code: str, key: str | None = None) -> None:
    with own.hold(carrier_code, key=key):
        pass


def test_nobody_waits_for_longer_than_a_client_calls_quick() -> None:
    assert WAIT_TIMEOUT_S <= 1


@pytest.mark.usefixtures("one_slot", "patience")
def test_no_more_wait_than_there_are_slots() -> None:
    own = Bulkhead()
    with ThreadPoolExecutor(2) as pool:
        with own.hold("alpha"):
            waiters = [pool.submit(take, own, "alpha") for _ in range(2)]
            until(lambda: own._waiting == 2)
            with pytest.raises(BulkheadFullError):
                take(own, "alpha")
            take(own, "beta")  # its own is free
            assert own.taken == 3
        for waiter in waiters:
            waiter.result()
    assert own.taken == 0


@pytest.mark.usefixtures("one_slot", "patience")
def test_a_carrier_that_is_silent_is_not_waited_for() -> None:
    own = Bulkhead()
    with own.hold("alpha"):
        own._moved_at["alpha"] -= DEADLINE_S
        with pytest.raises(BulkheadFullError):
            take(own, "alpha")


@pytest.mark.usefixtures("one_slot", "patience")
def test_whose_key_is_at_work_is_told_so_at_once_with_slots_that_are_free_too() -> None:
    own = Bulkhead()
    with ThreadPoolExecutor(1) as pool, ExitStack() as others:
        others.enter_context(own.hold("alpha"))
        waiter = pool.submit(take, own, "alpha", "k")
        until(lambda: own._waiting == 1)
        others.enter_context(own.hold("beta", key="k"))
        with pytest.raises(BulkheadFullError) as told:
            waiter.result()
        assert told.value.is_key_at_work
        with pytest.raises(BulkheadFullError) as told:
            take(own, "beta", "k")
        assert told.value.is_key_at_work


@pytest.mark.usefixtures("one_slot", "patience")
def test_a_burst_of_orders_is_served_by_a_carrier_that_is_prompt(buyer: Caller, sandbox: Sandbox) -> None:
    def buy(number: int) -> int:
        try:
            return post(buyer, order(), key=str(number)).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(buy, range(3))) == [201, 201, 201]
    assert len(sandbox.made()) == 3


@pytest.mark.usefixtures("one_slot")
def test_an_adoption_asks_the_carrier_within_a_slot_too(
    buyer: Caller, sandbox: Sandbox, django_user_model: Any
) -> None:
    sandbox.arm("nolabel", count=1)
    post(buyer, order(), key=KEY)
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    (parcel,) = sandbox.made()
    ada = django_user_model.objects.create_user("ada")
    numbers = [parcel.tracking_number]
    with all_taken(), pytest.raises(decisions.NoPdfError, match="Too many requests wait for alpha now"):
        decisions.adopt(label=row(), tracking_numbers=numbers, pdf=None, decided_by=ada)
    assert row().state == LabelState.UNKNOWN
    assert decisions.adopt(label=row(), tracking_numbers=numbers, pdf=None, decided_by=ada).state == (
        LabelState.GENERATED
    )
