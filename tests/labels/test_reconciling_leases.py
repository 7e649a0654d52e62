"""A purchase is reconciled by one process at a time, and what the storage refused is stored later."""

from datetime import timedelta

import pytest
from django.db import connection

from carriers.errors import OutcomeUnknown
from labels.lifecycle import outcomes
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, in_threads, nothing_finished, row
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.interruptions import KEY, SEARCH, as_if_killed, interrupt, pass_time
from tests.labels.orders import order, post
from tests.support.api import Caller


def test_what_is_stored_and_not_recorded_so_is_counted_as_its_row_says(
    transactional_db: None, own: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    label = LabelFactory(shop=own.shop, state="received")
    caplog.set_level("INFO", "labels.reconciling")
    with nothing_finished():
        assert reconcile() == {LabelState.RECEIVED: 1}
    assert row().state == LabelState.RECEIVED
    said = [record.state for record in caplog.records if record.message == "label reconciled"]  # type: ignore[attr-defined]  # its own
    assert said == [LabelState.RECEIVED]
    ShippingLabel.objects.update(leased_until=label.leased_until)
    assert reconcile() == {LabelState.GENERATED: 1}


# --- Whose it is ---


def test_the_oldest_is_taken_up_first(own: Caller, caplog: pytest.LogCaptureFixture) -> None:
    aged = [LabelFactory(shop=own.shop, days_ago=days, state="received") for days in (2, 3, 1)]
    caplog.set_level("INFO", "labels.reconciling")
    assert reconcile() == {LabelState.GENERATED: 3}
    taken = [record.label for record in caplog.records if record.message == "label reconciled"]  # type: ignore[attr-defined]  # its own
    assert taken == [aged[1].id, aged[0].id, aged[2].id]


@pytest.mark.real_services
def test_what_is_interrupted_is_found_along_an_index(own: Caller) -> None:
    for days in range(3):
        LabelFactory(shop=own.shop, days_ago=days, state="failed")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    plan = ShippingLabel.objects.interrupted().order_by("leased_until").values_list("id", flat=True).explain()
    assert "Index Scan using label_interrupted" in plan
    assert "Sort" not in plan


def test_a_purchase_that_somebody_works_on_is_left_alone(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    as_if_killed()
    assert reconcile() == {}
    assert (row().state, sandbox.questions()) == (LabelState.PURCHASING, 0)


def test_a_purchase_that_ends_late_leaves_the_lease_to_who_has_it_now(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    late = row()
    taken_until = late.leased_until + timedelta(minutes=1)
    ShippingLabel.objects.update(leased_until=taken_until)
    outcomes.fail_during_request(late, OutcomeUnknown("alpha", "no whole answer in time"))
    assert row().leased_until == taken_until


def test_several_reconcilers_at_once_do_the_work_once(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("closemade")
    for number in range(4):  # a fifth in a row would open the circuit breaker
        post(buyer, order(orderId=str(number)))
    sandbox.disarm()
    pass_time()
    sandbox.arm("slow", operation=SEARCH, delay_s=0.2)
    runs = in_threads(3, lambda _: reconcile())
    assert sum(run.total() for run in runs) == 4
    assert sandbox.questions() == 4 * 2  # each is found and cancelled once
    assert set(ShippingLabel.objects.values_list("state", flat=True)) == {LabelState.FAILED}
    assert len(sandbox.made()) == 4


def test_one_shops_trouble_holds_up_no_other(buyer: Caller, other: Caller, sandbox: Sandbox) -> None:
    theirs = ContractFactory(shop=other.shop, carrier_code="alpha")
    sandbox.arm("closemade", count=2)
    for caller in (buyer, other):
        post(caller, order(), key=KEY)
    CarrierContract.objects.filter(id=theirs.id).update(encrypted_credentials="x")
    pass_time()
    assert reconcile() == {LabelState.FAILED: 1, LabelState.UNKNOWN: 1}
    assert ShippingLabel.objects.get(shop="own").state == LabelState.FAILED
