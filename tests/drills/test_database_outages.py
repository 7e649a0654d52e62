"""Database outages during a purchase, simulated in one process at chosen writes."""

from contextlib import nullcontext
from typing import Any

import pytest
from django.db import OperationalError

from labels.lifecycle import db_retry, outcomes, states
from labels.lifecycle.errors import PurchaseFailedError, StorageUnavailableError
from labels.lifecycle.states import TRANSITIONS, Event
from labels.models import LabelState, ShippingLabel
from shops.api.errors.exceptions import ApiError
from shops.contracts.models import CarrierContract
from tests.drills.conftest import buy

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("step", "code", "status"),
    [
        (LabelState.RECEIVED, "ALPHA_OUTCOME_UNKNOWN", 502),
        (LabelState.GENERATED, "LABEL_STORAGE_UNAVAILABLE", 500),
        (LabelState.FAILED, "ALPHA_ADDRESS_REJECTED", 400),
    ],
)
def test_a_lasting_database_outage_is_answered_with_the_known_outcome(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch, step: LabelState, code: str, status: int
) -> None:
    move = states.move

    def moving(label: ShippingLabel, event: Event, **facts: Any) -> bool:
        if TRANSITIONS[event].target == step:
            raise OperationalError("gone")
        return move(label, event, **facts)

    monkeypatch.setattr(outcomes, "move", moving)
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0)
    with pytest.raises(ApiError) as caught:
        buy(reference="FAULT 38" if step == LabelState.FAILED else "")
    assert (caught.value.public_code, caught.value.status_code) == (code, status)


def test_a_refusal_is_answered_as_it_is_though_its_row_cannot_be_read(
    contract: CarrierContract, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(outcomes, "save_failure", away)
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0)
    with pytest.raises(PurchaseFailedError) as caught:
        buy(reference="FAULT 38")
    assert (caught.value.public_code, caught.value.status_code) == ("ALPHA_ADDRESS_REJECTED", 400)


class Clock:
    """A stand-in for the module `time`, whose time passes only during sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the writes' retries."""
    clock = Clock()
    monkeypatch.setattr(db_retry, "time", clock)
    return clock


@pytest.fixture
def outages(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Seconds that the database is down for the first write of each state."""
    move = states.move
    away_s: dict[str, float] = {}
    back_at_s: dict[str, float] = {}

    def moving(label: ShippingLabel, event: Event, **facts: Any) -> bool:
        state = TRANSITIONS[event].target
        if state in away_s and clock.now_s < back_at_s.setdefault(state, clock.now_s + away_s[state]):
            raise OperationalError("gone")
        return move(label, event, **facts)

    monkeypatch.setattr(outcomes, "move", moving)
    return away_s


@pytest.mark.parametrize("step", [LabelState.RECEIVED, LabelState.GENERATED, LabelState.FAILED])
def test_a_failover_of_25_s_is_waited_for(contract: CarrierContract, outages: dict[str, float], step: str) -> None:
    outages[step] = 25
    with nullcontext() if step != LabelState.FAILED else pytest.raises(PurchaseFailedError):
        buy(reference="FAULT 38" if step == LabelState.FAILED else "")
    expected = LabelState.FAILED if step == LabelState.FAILED else LabelState.GENERATED
    assert ShippingLabel.objects.get().state == expected


def test_all_writes_of_a_purchase_share_one_timeout(
    contract: CarrierContract, outages: dict[str, float], clock: Clock
) -> None:
    outages |= {LabelState.RECEIVED: 20, LabelState.GENERATED: 20}
    with pytest.raises(StorageUnavailableError):
        buy()
    assert clock.now_s == pytest.approx(db_retry.DB_RETRY_TIMEOUT_S, abs=2 * db_retry.PAUSE_S)
    label = ShippingLabel.objects.get()
    assert (label.state, bytes(label.pdf or b"")[:5]) == (LabelState.RECEIVED, b"%PDF-")  # nothing is lost
