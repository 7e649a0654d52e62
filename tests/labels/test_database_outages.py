"""Database outages during a purchase, simulated in one process at chosen writes."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import InterfaceError, OperationalError

from carriers.products import PRODUCTS
from labels.ids import id_time
from labels.lifecycle import db_retry, outcomes, purchase, states
from labels.lifecycle.db_retry import with_db_retry
from labels.lifecycle.states import TRANSITIONS, Event, move
from labels.models import LabelState, ShippingLabel
from shops.api.errors.plain import ORDERS_HELD_UP
from shops.contracts import clients
from shops.db import clock
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import assert_bought
from tests.labels.orders import PRODUCT, order, post
from tests.labels.test_metrics import value
from tests.support.api import Caller, Clock
from tests.support.sql import execute

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


# Retried writes


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Make no pause, and note each time that the connection is given up."""
    noted: list[bool] = []
    monkeypatch.setattr(db_retry, "PAUSE_S", 0)
    monkeypatch.setattr("labels.lifecycle.db_retry.connection.close", lambda: noted.append(True))
    return noted


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_write_that_fails_is_made_again_on_a_new_connection(error: type[Exception], closed: list[bool]) -> None:
    failures = [error("the database restarts")] * 3

    def write() -> str:
        if failures:
            raise failures.pop()
        return "written"

    assert with_db_retry(write) == "written"
    assert len(closed) == 3


def test_a_fault_of_our_own_is_not_tried_again(closed: list[bool]) -> None:
    write = Mock(side_effect=ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        with_db_retry(write)
    assert (write.call_count, closed) == (1, [])


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_while_the_databases_disk_is_full_an_order_is_refused_at_once_and_leaves_nothing(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        "labels.lifecycle.db_retry.time.sleep", Mock(side_effect=AssertionError("an order waits for the database"))
    )
    execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;"
        "CREATE TRIGGER full_disk BEFORE INSERT ON labels_shippinglabel EXECUTE FUNCTION refuse()"
    )
    try:
        response = post(buyer, order(), key="k")
    finally:
        execute("DROP FUNCTION refuse CASCADE")
    assert (response.status_code, response.json()["message"]) == (503, ORDERS_HELD_UP.message)
    assert sandbox.calls() == 0
    reasons = [vars(each)["reason"] for each in caplog.records if each.message == "order held up"]
    assert reasons == ["OperationalError 53100 (disk full)"]
    assert post(buyer, order(), key="k").status_code == 201


def test_an_order_that_is_reserved_again_has_the_id_of_its_new_time(
    waiting: Waiting, buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first row may be committed all the same: none is left of it."""

    def lose_connection(_: None) -> None:
        later = clock.upper_bound_now() + timedelta(seconds=20)
        monkeypatch.setattr(clock, "upper_bound_now", lambda: later)
        raise OperationalError("the connection was lost")

    during(monkeypatch, purchase, "reserve", after=lose_connection)
    assert post(buyer, order(), key="k").status_code == 201
    assert row().created_at - id_time(row().id) < timedelta(seconds=1)
    assert_bought(buyer, sandbox)
    assert [each.reference for each in sandbox.made()] == [row().id]


# Rows that a failover loses

VANISHED = "label_rows_vanished_total"


@pytest.fixture
def failover(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the database lose the row while the carrier is asked."""
    for carrier_code in PRODUCT:
        client = clients.client(carrier_code, is_test=False)

        def lose(*args: Any, create_label: Any = client.create_label, **options: Any) -> Any:
            try:
                return create_label(*args, **options)
            finally:
                ShippingLabel.objects.filter(state=LabelState.PURCHASING).delete()

        monkeypatch.setattr(client, "create_label", lose)


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_bought_label_is_written_again_with_an_alarm(
    product_code: str, failover: None, buyer: Caller, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    carrier = PRODUCTS[product_code].carrier
    before = value(VANISHED, carrier=carrier)
    assert post(buyer, order(product_code), key="k").status_code == 201
    assert_bought(buyer, sandbox)
    assert post(buyer, order(product_code), key="k")["Idempotent-Replayed"] == "true"
    assert (sandbox.calls(), value(VANISHED, carrier=carrier)) == (1, before + 1)
    (alarm,) = [record for record in caplog.records if record.levelname == "CRITICAL"]
    assert vars(alarm)["tracking_numbers"] == row().tracking_number
    assert (vars(alarm)["carrier"], vars(alarm)["shop"]) == (carrier, buyer.shop.id)


def test_a_key_that_another_purchase_has_by_now_stays_there(own: Caller) -> None:
    lost = LabelFactory(shop=own.shop, state="received", idempotency_key="k")
    ShippingLabel.objects.filter(id=lost.id).delete()
    later = LabelFactory(shop=own.shop, idempotency_key="k")
    assert move(lost, Event.BOUGHT, tracking_numbers=["XS1"])
    kept = ShippingLabel.objects.get(id=lost.id)
    assert (kept.state, kept.tracking_numbers, kept.idempotency_key) == (LabelState.RECEIVED, ["XS1"], None)
    later.refresh_from_db()
    assert later.idempotency_key == "k"
