"""Races that a kill cannot show: slow, suspended and conflicting processes, played in one process at chosen moments."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from carriers.sandbox.server import SandboxServer
from labels.lifecycle import leases, purchase, reconciling
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from shops.api.errors.exceptions import ApiError
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract
from tests.drills.conftest import KEY, buy, interrupted, parcels_made, state

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_parcel_whose_number_is_known_is_never_declared_not_made(contract: CarrierContract) -> None:
    label = interrupted(state=LabelState.UNKNOWN, tracking_numbers=["XY000000001FR"])
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
def test_a_suspended_reconciler_does_not_hold_a_label_changed_meanwhile(
    contract: CarrierContract, meanwhile: dict[str, Any]
) -> None:
    label = leases.take(interrupted().id, leases.due())
    assert label
    ShippingLabel.objects.filter(id=label.id).update(**meanwhile)
    before = ShippingLabel.objects.filter(id=label.id).values().get()
    leases.hold(label)
    assert ShippingLabel.objects.filter(id=label.id).values().get() == before


def test_an_answer_counts_from_when_the_carrier_was_asked(
    contract: CarrierContract, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted(created_at=timezone.now() - timedelta(minutes=10))
    settings.RECONCILE_WAIT_S = 1200
    carrier = client("alpha", is_test=False)
    find = carrier.find_by_reference

    def slowly(*args: Any) -> Any:
        numbers = find(*args)
        later = timezone.now() + timedelta(minutes=20)
        monkeypatch.setattr("shops.db.clock.now", lambda: later)
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
        label.leased_until -= timedelta(seconds=margins * settings.LEASE_MARGIN_S)  # as if this time had passed
        label.save(update_fields=["leased_until"])

    monkeypatch.setattr(purchase, "reserve", suspended)
    with pytest.raises(ApiError) as caught:
        buy()
    assert (caught.value.public_code, caught.value.status_code) == ("ALPHA_UNAVAILABLE", 502)
    assert parcels_made(sandbox) == 0
    assert ShippingLabel.objects.get().idempotency_key is None


def test_an_error_with_one_label_does_not_block_the_others(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = b"%PDF-1.7"
    first = interrupted(state=LabelState.RECEIVED, pdf=pdf, idempotency_key="1")
    second = interrupted(state=LabelState.RECEIVED, pdf=pdf, idempotency_key="2")
    broken = min(first.id, second.id)
    store = storage.store

    def storing(label: ShippingLabel, content: bytes) -> None:
        if label.id == broken:
            raise RuntimeError("a bug")
        store(label, content)

    monkeypatch.setattr(storage, "store", storing)
    reconciling.reconcile()
    assert sorted([state(first), state(second)]) == [LabelState.GENERATED, LabelState.RECEIVED]


def test_a_key_released_by_the_faster_request_is_answered_with_409(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted()
    answers = iter([None, None])
    monkeypatch.setattr(purchase, "find_earlier", lambda *_: next(answers))
    with pytest.raises(ApiError) as caught:
        buy()
    assert (caught.value.public_code, caught.value.headers) == ("IDEMPOTENCY_KEY_IN_PROGRESS", {"Retry-After": "2"})
    assert state(label) == LabelState.PURCHASING


def test_the_same_key_does_not_finish_a_label_that_was_cancelled_meanwhile(contract: CarrierContract) -> None:
    stale = interrupted(state=LabelState.RECEIVED, pdf=b"%PDF-1.7", tracking_numbers=["XY000000001FR"])
    ShippingLabel.objects.filter(id=stale.id).update(state=LabelState.CANCELLED, pdf=None)
    with pytest.raises(ApiError) as caught:
        purchase.replay(stale, KEY)
    assert caught.value.public_code == "LABEL_CANCELLED"
