"""What a kill can't show: slow, suspended and disagreeing processes, played in one process at chosen moments."""

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.db import OperationalError
from django.utils import timezone

from carriers.base import PurchasedLabel
from carriers.errors import CarrierUnavailable, OutcomeUnknown
from carriers.sandbox.server import SandboxServer
from labels import db_retry, orders, purchase, reconciling, storage
from labels.errors import PurchaseFailedError, StorageUnavailableError
from labels.idempotency import IdempotencyKey
from labels.models import LabelState, ShippingLabel
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract
from shops.errors.exceptions import ApiError
from tests.drills.environment import ACCOUNTS, SENDER, order
from tests.support.factories import ShopFactory

pytestmark = pytest.mark.django_db(transaction=True)
KEY = IdempotencyKey("key", "digest")


@pytest.fixture
def sandbox(settings: Any, tmp_path: Any) -> Iterator[SandboxServer]:
    with SandboxServer() as server:
        alpha = {"url": server.alpha_url, "tracking_url": server.alpha_tracking_url}
        settings.CARRIER_ENDPOINTS = {"alpha": alpha, "beta": {"url": server.beta_url}}
        settings.STORAGES = settings.STORAGES | {
            "labels": {"BACKEND": "labels.storage.LabelFolder", "OPTIONS": {"location": str(tmp_path)}}
        }
        client.cache_clear()
        yield server
    client.cache_clear()


@pytest.fixture
def contract(sandbox: SandboxServer) -> CarrierContract:
    shop = ShopFactory(id="shop")
    account, password = ACCOUNTS["alpha"]
    contract = CarrierContract(shop=shop, carrier_code="alpha", account_number=account, products={"alpha-18": None})
    contract.set_secret(password=password)
    contract.save()
    return contract


def ordered(**fields: Any) -> dict[str, Any]:
    left_out = {"originAddress": SENDER, "pickupPointCode": "", "reference": ""}
    return order("order", "alpha") | left_out | fields


def buy(**fields: Any) -> ShippingLabel:
    return purchase.buy(shop_id="shop", order=ordered(**fields), key=KEY)[0]


def made(sandbox: SandboxServer) -> int:
    return int(requests.get(f"{sandbox.url}/ledger/count", timeout=60).json()["count"])


def interrupted(**fields: Any) -> ShippingLabel:
    """A purchase from half an hour ago, which never came to an end."""
    label = orders.new_label(shop_id="shop", order=ordered(), key=KEY, token_id="")
    label.created_at = timezone.now() - timedelta(minutes=30)
    label.leased_until = timezone.now() - timedelta(minutes=20)
    for name, value in fields.items():
        setattr(label, name, value)
    label.save(force_insert=True)
    CarrierContract.objects.update(updated_at=label.created_at - timedelta(days=1))
    return label


def state(label: ShippingLabel) -> str:
    return str(ShippingLabel.objects.get(id=label.id).state)


def test_a_parcel_that_its_carrier_does_not_know_was_not_made(contract: CarrierContract) -> None:
    label = interrupted()
    reconciling.reconcile()
    assert state(label) == LabelState.FAILED
    assert buy().state == LabelState.GENERATED


def test_a_parcel_whose_number_is_known_is_never_declared_not_made(contract: CarrierContract) -> None:
    label = interrupted(state=LabelState.UNKNOWN, tracking_numbers=["XY000000001FR"])
    reconciling.reconcile()
    assert state(label) == LabelState.UNKNOWN


def test_a_contract_set_up_since_can_not_tell_that_nothing_was_made(contract: CarrierContract) -> None:
    label = interrupted()
    contract.account_number = "19869503"  # its search does not find what the other account bought
    contract.save()
    reconciling.reconcile()
    assert state(label) == LabelState.UNKNOWN


@pytest.mark.parametrize(
    "meanwhile",
    [
        {"state": LabelState.FAILED, "idempotency_key": None, "leased_until": timezone.now() + timedelta(days=1)},
        {"state": LabelState.INCOMPLETE},
        {"leased_until": timezone.now() + timedelta(days=1)},
    ],
)
def test_a_reconciler_that_was_suspended_holds_nothing_that_was_changed_meanwhile(
    contract: CarrierContract, meanwhile: dict[str, Any]
) -> None:
    label = reconciling.take(interrupted().id)
    assert label
    ShippingLabel.objects.filter(id=label.id).update(**meanwhile)
    before = ShippingLabel.objects.filter(id=label.id).values().get()
    reconciling.hold(label)
    assert ShippingLabel.objects.filter(id=label.id).values().get() == before


def test_an_answer_counts_from_when_the_carrier_was_asked(
    contract: CarrierContract, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted(created_at=timezone.now() - timedelta(minutes=10))
    settings.RECONCILE_WAIT_S = 1200
    carrier = client("alpha")
    find = carrier.find_by_reference

    def slowly(*args: Any) -> Any:
        numbers = find(*args)
        later = timezone.now() + timedelta(minutes=20)
        monkeypatch.setattr("labels.reconciling.timezone.now", lambda: later)
        return numbers

    monkeypatch.setattr(carrier, "find_by_reference", slowly)
    reconciling.reconcile()
    assert state(label) == LabelState.UNKNOWN


@pytest.mark.parametrize("margins", [0.75, 100])
def test_a_process_that_was_suspended_too_long_does_not_call_the_carrier(
    margins: float, contract: CarrierContract, sandbox: SandboxServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = purchase.reserve

    def suspended(label: ShippingLabel) -> None:
        reserve(label)
        label.leased_until -= timedelta(seconds=margins * settings.LEASE_MARGIN_S)  # as if so much time had passed
        label.save(update_fields=["leased_until"])

    monkeypatch.setattr(purchase, "reserve", suspended)
    with pytest.raises(ApiError) as caught:
        buy()
    assert (caught.value.public_code, caught.value.status_code) == ("ALPHA_UNAVAILABLE", 502)
    assert made(sandbox) == 0
    assert ShippingLabel.objects.get().idempotency_key is None


def test_a_failure_written_late_does_not_undo_what_the_reconciliation_found(contract: CarrierContract) -> None:
    label = interrupted()
    slow = ShippingLabel.objects.get(id=label.id)
    purchase.keep(label, PurchasedLabel(("XY000000001FR",), b"%PDF-1.7"))
    purchase.fail(slow, OutcomeUnknown("alpha", "no whole answer in time"))
    row = ShippingLabel.objects.get(id=label.id)
    assert (row.state, bytes(row.pdf or b"")) == (LabelState.RECEIVED, b"%PDF-1.7")


def test_nothing_written_late_undoes_a_label_that_is_generated(contract: CarrierContract) -> None:
    label = interrupted()
    slow, slower = (ShippingLabel.objects.get(id=label.id) for _ in range(2))
    purchase.keep(label, PurchasedLabel(("XY000000001FR",), b"%PDF-1.7"))
    purchase.finish(label)
    before = ShippingLabel.objects.filter(id=label.id).values().get()
    purchase.fail(slow, CarrierUnavailable("alpha", "nothing was made"))
    purchase.keep(slower, PurchasedLabel(("XY000000002FR",), b"%PDF-1.4"))
    assert ShippingLabel.objects.filter(id=label.id).values().get() == before


def test_a_failure_written_late_does_not_undo_a_decision(contract: CarrierContract) -> None:
    label = interrupted(state=LabelState.FAILED, idempotency_key=None, decided_by="anne", decided_at=timezone.now())
    purchase.fail(ShippingLabel.objects.get(id=label.id), OutcomeUnknown("alpha", "no whole answer in time"))
    assert state(label) == LabelState.FAILED


def test_a_label_bought_by_a_slow_call_is_kept_though_its_key_has_bought_another(contract: CarrierContract) -> None:
    slow = interrupted()
    other = ShippingLabel.objects.get(id=slow.id)
    purchase.fail(other, CarrierUnavailable("alpha", "nothing was made"))
    second = buy()
    purchase.keep(slow, PurchasedLabel(("XY000000001FR",), b"%PDF-1.7"))
    purchase.finish(slow)
    assert {state(slow), state(second)} == {LabelState.GENERATED}
    assert ShippingLabel.objects.get(id=slow.id).idempotency_key is None


def test_one_labels_trouble_does_not_keep_the_others_waiting(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = b"%PDF-1.7"
    first = interrupted(state=LabelState.RECEIVED, pdf=pdf, idempotency_key="1")
    second = interrupted(state=LabelState.RECEIVED, pdf=pdf, idempotency_key="2")
    troubled = min(first.id, second.id)
    store = storage.store

    def storing(label: ShippingLabel, content: bytes) -> None:
        if label.id == troubled:
            raise RuntimeError("a fault of ours")
        store(label, content)

    monkeypatch.setattr(storage, "store", storing)
    reconciling.reconcile()
    assert sorted([state(first), state(second)]) == [LabelState.GENERATED, LabelState.RECEIVED]


@pytest.mark.parametrize(
    ("step", "code", "status"),
    [
        (LabelState.RECEIVED, "ALPHA_OUTCOME_UNKNOWN", 502),
        (LabelState.GENERATED, "LABEL_STORAGE_UNAVAILABLE", 500),
        (LabelState.FAILED, "ALPHA_ADDRESS_REJECTED", 400),
    ],
)
def test_a_database_that_stays_away_is_answered_with_what_is_known(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch, step: LabelState, code: str, status: int
) -> None:
    save_state = purchase.save_state

    def saving(label: ShippingLabel) -> None:
        if label.state == step:
            raise OperationalError("gone")
        save_state(label)

    monkeypatch.setattr(purchase, "save_state", saving)
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0)
    with pytest.raises(ApiError) as caught:
        buy(reference="FAULT 38" if step == LabelState.FAILED else "")
    assert (caught.value.public_code, caught.value.status_code) == (code, status)


class Clock:
    """Time that passes only where somebody sleeps, in place of the module `time`."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that writes are tried for."""
    clock = Clock()
    monkeypatch.setattr(db_retry, "time", clock)
    return clock


@pytest.fixture
def outages(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The writes of these states meet a database that is away for so many seconds."""
    save_state = purchase.save_state
    away_s: dict[str, float] = {}
    back_at_s: dict[str, float] = {}

    def saving(label: ShippingLabel) -> None:
        if label.state in away_s and clock.now_s < back_at_s.setdefault(label.state, clock.now_s + away_s[label.state]):
            raise OperationalError("gone")
        save_state(label)

    monkeypatch.setattr(purchase, "save_state", saving)
    return away_s


@pytest.mark.parametrize("step", [LabelState.RECEIVED, LabelState.GENERATED, LabelState.FAILED])
def test_a_failover_of_25_s_is_waited_for(contract: CarrierContract, outages: dict[str, float], step: str) -> None:
    outages[step] = 25
    with nullcontext() if step != LabelState.FAILED else pytest.raises(PurchaseFailedError):
        buy(reference="FAULT 38" if step == LabelState.FAILED else "")
    expected = LabelState.FAILED if step == LabelState.FAILED else LabelState.GENERATED
    assert ShippingLabel.objects.get().state == expected


def test_all_writes_of_a_purchase_share_one_patience(
    contract: CarrierContract, outages: dict[str, float], clock: Clock
) -> None:
    outages |= {LabelState.RECEIVED: 20, LabelState.GENERATED: 20}
    with pytest.raises(StorageUnavailableError):
        buy()
    assert clock.now_s == pytest.approx(db_retry.DB_RETRY_TIMEOUT_S, abs=2 * db_retry.PAUSE_S)
    label = ShippingLabel.objects.get()
    assert (label.state, bytes(label.pdf or b"")[:5]) == (LabelState.RECEIVED, b"%PDF-")  # nothing is lost


def test_a_key_released_by_the_faster_request_is_answered_with_409(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted()
    answers = iter([None, None])
    monkeypatch.setattr(purchase, "find_earlier", lambda *_: next(answers))
    with pytest.raises(ApiError) as caught:
        buy()
    assert (caught.value.public_code, caught.value.wait) == ("IDEMPOTENCY_KEY_IN_PROGRESS", 2)
    assert state(label) == LabelState.PURCHASING


def test_a_reservation_whose_commit_raised_is_taken_back(
    contract: CarrierContract, sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = ShippingLabel.save

    def committed_and_raised(self: ShippingLabel, **options: Any) -> None:
        save(self, **options)
        monkeypatch.undo()  # the next commit succeeds
        raise OperationalError("the connection was lost")

    # A save in autocommit mode, outside the transaction that is rolled back.
    monkeypatch.setattr("django.db.transaction.atomic", lambda **_: nullcontext())
    monkeypatch.setattr(ShippingLabel, "save", committed_and_raised)
    with pytest.raises(OperationalError):
        buy()
    assert not ShippingLabel.objects.exists()
    assert made(sandbox) == 0


def test_the_same_key_finishes_a_label_that_waited_for_the_storage(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted(state=LabelState.RECEIVED, pdf=b"%PDF-1.7", tracking_numbers=["XY000000001FR"])
    found, is_replay = purchase.buy(shop_id="shop", order=ordered(), key=KEY)
    assert (found.id, is_replay, state(label)) == (label.id, True, LabelState.GENERATED)


def test_an_interrupted_purchase_answers_unknown_until_it_is_reconciled(contract: CarrierContract) -> None:
    interrupted()
    with pytest.raises(PurchaseFailedError) as caught:
        buy()
    assert (caught.value.public_code, caught.value.status_code) == ("ALPHA_OUTCOME_UNKNOWN", 502)
