"""Database outages during a purchase, simulated in one process at chosen writes."""

from typing import Any

import pytest
from django.db import OperationalError

from labels.lifecycle import db_retry, outcomes, states
from labels.lifecycle.states import TRANSITIONS, Event
from labels.models import LabelState, ShippingLabel
from tests.labels.conftest import assert_coded
from tests.labels.orders import order, post
from tests.support.api import Caller, Clock

STEPS = {
    LabelState.RECEIVED: (502, "ALPHA_OUTCOME_UNKNOWN"),
    LabelState.GENERATED: (500, "LABEL_STORAGE_UNAVAILABLE"),
    LabelState.FAILED: (400, "ALPHA_ADDRESS_REJECTED"),
}


class Waiting(Clock):
    """A stand-in for the module `time`, whose time passes only during sleeps."""

    monotonic = Clock.time
    sleep = Clock.tick


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    """The clock of the writes' retries."""
    made = Waiting(0)
    monkeypatch.setattr(db_retry, "time", made)
    return made


@pytest.fixture
def outages(waiting: Waiting, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Seconds that the database is down for the first write of each state."""
    move = states.move
    away_s: dict[str, float] = {}
    back_at_s: dict[str, float] = {}

    def moving(label: ShippingLabel, event: Event, **facts: Any) -> bool:
        state = TRANSITIONS[event].target
        if state in away_s and waiting.now_s < back_at_s.setdefault(state, waiting.now_s + away_s[state]):
            raise OperationalError("gone")
        return move(label, event, **facts)

    monkeypatch.setattr(outcomes, "move", moving)
    return away_s


def refused(step: LabelState) -> dict[str, Any]:
    """An order that is refused where the step is a refusal's."""
    return order(reference="FAULT 38" if step == LabelState.FAILED else "")


@pytest.mark.parametrize("step", STEPS)
def test_a_lasting_database_outage_is_answered_with_the_known_outcome(
    buyer: Caller, outages: dict[str, float], step: LabelState
) -> None:
    outages[step] = 10**6
    assert_coded(post(buyer, refused(step)), *STEPS[step])


def test_a_refusal_is_answered_as_it_is_though_its_row_cannot_be_read(
    buyer: Caller, outages: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(outcomes, "save_failure", away)
    assert_coded(post(buyer, refused(LabelState.FAILED)), *STEPS[LabelState.FAILED])


@pytest.mark.parametrize("step", STEPS)
def test_a_failover_of_25_s_is_waited_for(buyer: Caller, outages: dict[str, float], step: LabelState) -> None:
    outages[step] = 25
    assert post(buyer, refused(step)).status_code == (400 if step == LabelState.FAILED else 201)
    expected = LabelState.FAILED if step == LabelState.FAILED else LabelState.GENERATED
    assert ShippingLabel.objects.get().state == expected


def test_all_writes_of_a_purchase_share_one_timeout(buyer: Caller, outages: dict[str, float], waiting: Waiting) -> None:
    outages |= {LabelState.RECEIVED: 20, LabelState.GENERATED: 20}
    assert_coded(post(buyer, order()), *STEPS[LabelState.GENERATED])
    assert waiting.now_s == pytest.approx(db_retry.DB_RETRY_TIMEOUT_S, abs=2 * db_retry.PAUSE_S)
    label = ShippingLabel.objects.get()
    assert (label.state, bytes(label.pdf or b"")[:5]) == (LabelState.RECEIVED, b"%PDF-")  # nothing is lost
