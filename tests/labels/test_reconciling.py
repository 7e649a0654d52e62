"""Purchases that were interrupted are finished, cancelled or classified: by asking alpha, never by buying again."""

from datetime import timedelta
from time import monotonic
from unittest.mock import Mock

import pytest
from pytest_django.fixtures import Settings

from carriers import pdf
from carriers.errors import OutcomeUnknown
from carriers.http.transport import UnreadableError
from carriers.shipment import PurchasedLabel
from labels.lifecycle import leases, outcomes, reconciling
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from labels.orders import shipment
from labels.pdfs import storage, unmerged
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from shops.models import Shop
from tests.labels.conftest import Sandbox, assert_coded, nothing_finished, row
from tests.labels.factories import PDF, ContractFactory, LabelFactory
from tests.labels.interruptions import (
    BETA,
    CANCEL,
    KEY,
    SEARCH,
    WAIT_S,
    as_if_killed,
    assert_bought,
    buy_control,
    interrupt,
    pass_time,
)
from tests.labels.orders import order, post, weighing
from tests.support.api import Caller
from tests.support.sql import use_indexes
from tests.support.threads import in_threads


def test_a_parcel_too_young_to_be_cancelled_is_tried_again_for_an_hour(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    number = sandbox.made()[0].tracking_number
    for _ in range(2):
        pass_time(400)
        assert reconcile() == {LabelState.UNKNOWN: 1}
        label = row()
        assert (label.tracking_numbers, label.cancelled_numbers, label.idempotency_key) == ([number], [], KEY)
        assert list(ShippingLabel.objects.needing_decision()) == [label]
        assert "could not be cancelled" in assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
    sandbox.disarm()
    pass_time(400)
    assert reconcile() == {LabelState.FAILED: 1}
    assert sandbox.is_cancelled(sandbox.made()[0])


def test_what_alpha_does_not_know_at_once_may_still_be_made(
    buyer: Caller, sandbox: Sandbox, settings: Settings
) -> None:
    settings.RECONCILE_WAIT_S = 0.001
    interrupt(buyer, sandbox, "close")
    pass_time(settings.CARRIER_TIMEOUT + 1)
    buy_control(buyer)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (reconcile(), sandbox.questions()) == ({}, 1)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")


def test_a_label_of_a_deactivated_shop_is_settled_too(buyer: Caller, sandbox: Sandbox) -> None:
    """It may be paid for."""
    interrupt(buyer, sandbox, "nolabel")
    Shop.objects.update(is_active=False)
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert row().tracking_numbers == [parcel.tracking_number for parcel in sandbox.made()]


def test_more_parcels_than_a_search_shows_are_finished_by_their_reservation(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "nolabel", order(parcels=weighing(*[1] * 12)))
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)
    assert len(row().tracking_numbers) == 12


def test_pdfs_that_cant_be_merged_are_fetched_as_one_by_the_reservation(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "rewritten", Mock(side_effect=UnreadableError("the labels cannot be merged")))
    assert_coded(post(buyer, order(parcels=weighing(1, 2)), key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


@pytest.mark.parametrize(("known", "kept"), [(11, 11), (1, 10), (0, 10)])
def test_the_numbers_that_came_stay_when_fewer_are_found(
    known: int, kept: int, buyer: Caller, sandbox: Sandbox
) -> None:
    label = interrupt(buyer, sandbox, "nolabel", order(parcels=weighing(*[1] * 12)))
    ShippingLabel.objects.update(tracking_numbers=label.tracking_numbers[:known], reservation_number="")
    for _ in range(2):
        pass_time(2 * WAIT_S)
        assert reconcile() == {LabelState.UNKNOWN: 1}
        assert row().tracking_numbers == label.tracking_numbers[:kept]


def test_what_the_carrier_reserved_was_made_though_its_search_is_silent(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupt(buyer, sandbox, "nolabel")
    ShippingLabel.objects.update(tracking_numbers=[])  # as of an answer whose number can't be read
    pass_time(2 * WAIT_S)
    buy_control(buyer)
    carrier = clients.client("alpha", is_test=False)
    found = carrier.find_by_reference
    monkeypatch.setattr(
        carrier, "find_by_reference", lambda own, account: () if own == label.id else found(own, account)
    )
    assert reconcile() == {LabelState.UNKNOWN: 1}
    label.refresh_from_db()
    assert list(ShippingLabel.objects.needing_decision()) == [label]


def test_a_pdf_that_is_fetched_while_the_storage_is_down_is_kept(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(buyer, sandbox, "nolabel")
    pass_time()
    with monkeypatch.context() as patch:
        patch.setattr(storage, "write", Mock(side_effect=storage.StorageError("ENOSPC")))
        assert reconcile() == {LabelState.RECEIVED: 1}
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


def test_what_is_reserved_is_finished_when_the_search_finds_its_number(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "nolabel")
    ShippingLabel.objects.update(tracking_numbers=[])
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


def test_a_pdf_that_came_without_a_number_is_the_labels_of_which_the_search_finds_the_number(
    buyer: Caller, sandbox: Sandbox
) -> None:
    interrupt(buyer, sandbox, "closemade")
    ShippingLabel.objects.update(pdf=unmerged.zipped({"label": PDF}))  # as of an answer whose numbers can't be read
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    (parcel,) = sandbox.made()
    assert (row().tracking_numbers, sandbox.is_cancelled(parcel)) == ([parcel.tracking_number], False)
    assert storage.read(row().pdf_key) == PDF


def test_another_number_of_parcels_than_ordered_is_for_a_person_to_decide(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    ShippingLabel.objects.update(weights_kg=["1.25", "1.25"])
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    label = row()
    assert label.tracking_numbers == [parcel.tracking_number for parcel in sandbox.made()]
    assert list(ShippingLabel.objects.needing_decision()) == [label]
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")


def test_a_contract_that_is_gone_or_locked_leaves_a_label_unknown(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    mine = CarrierContract.objects.get(carrier_code="alpha")
    CarrierContract.objects.filter(id=mine.id).update(encrypted_credentials="x")
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    CarrierContract.objects.filter(id=mine.id).delete()
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert sandbox.questions() == 0
    assert row().idempotency_key == KEY


def test_what_may_be_made_on_an_account_that_is_not_kept_is_asked_of_no_other(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    pass_time(WAIT_S + 1)
    mine = CarrierContract.objects.get(carrier_code="alpha")
    mine.account_number = "12345678"
    mine.save()
    buy_control(buyer)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
    assert (sandbox.questions(), len(sandbox.made())) == (0, 2)


@pytest.mark.parametrize(("has_changed", "state"), [(False, LabelState.FAILED), (True, LabelState.UNKNOWN)])
def test_what_names_no_account_may_be_made_on_another_if_the_contract_has_changed(
    has_changed: bool, state: LabelState, buyer: Caller, sandbox: Sandbox
) -> None:
    """As labels of before."""
    interrupt(buyer, sandbox, "close")
    ShippingLabel.objects.update(account_number="")
    pass_time(WAIT_S + 1)
    buy_control(buyer)
    if has_changed:
        CarrierContract.objects.get(carrier_code="alpha").save()
    assert reconcile() == {state: 1}


def test_without_a_tracking_service_alpha_is_not_asked(buyer: Caller, sandbox: Sandbox, settings: Settings) -> None:
    interrupt(buyer, sandbox, "closemade")
    endpoint = settings.CARRIER_ENDPOINTS["alpha"] | {"tracking_url": None}
    settings.CARRIER_ENDPOINTS = settings.CARRIER_ENDPOINTS | {"alpha": endpoint}
    clients.client.cache_clear()
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert sandbox.questions() == 0
    ShippingLabel.objects.update(state=LabelState.FAILED)  # and to be asked again, as before the setting was changed
    pass_time(7 * 24 * 3600)
    assert reconcile() == {LabelState.FAILED: 1}
    pass_time(WAIT_S)
    assert reconcile() == {}


# --- As many numbers as parcels, by whichever way ---


def test_a_reservations_number_that_no_column_holds_is_left_out(own: Caller) -> None:
    label = LabelFactory(shop=own.shop, carrier_code="alpha", state=LabelState.PURCHASING)
    outcomes.save_received(label, PurchasedLabel(("XU1",), {"XU1": b"%PDF-1.4"}, reservation_number="9" * 35))
    assert (row().state, row().reservation_number) == (LabelState.RECEIVED, "")


# --- beta can't be asked, and bills no label that is not used ---


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_order_of_beta_settles_itself_after_half_an_hour(is_killed: bool, buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade", order(BETA))
    if is_killed:
        as_if_killed()
    for _ in range(2):
        pass_time(600)
        assert_coded(post(buyer, order(BETA), key=KEY), 502, "BETA_OUTCOME_UNKNOWN")  # before anybody has looked, too
        assert set(reconcile()) <= {LabelState.UNKNOWN}
        assert list(ShippingLabel.objects.needing_decision()) == []
    pass_time(700)
    assert reconcile() == {LabelState.FAILED: 1}
    failed = row()
    assert (failed.idempotency_key, failed.error_code, failed.pdf) == (None, "BETA_UNAVAILABLE", None)
    assert "what was made is not used and not billed; a retry is safe." in failed.error_message
    assert "Nothing was made" not in failed.error_message
    assert post(buyer, order(BETA), key=KEY).status_code == 201
    pass_time(100_000)
    assert reconcile() == {}


def test_an_order_of_beta_whose_pdf_is_stored_is_left(buyer: Caller, sandbox: Sandbox) -> None:
    """As after the database was restored: its shop may have the label."""
    storage.store(interrupt(buyer, sandbox, "closemade", order(BETA)), PDF)
    pass_time(2000)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert row().idempotency_key == KEY


# Leases, and what the storage refused


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


def test_a_shop_waits_for_no_other_shops_backlog(
    own: Caller, other: Caller, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days in range(20):
        LabelFactory(shop=own.shop, days_ago=days + 1, state="received")
    theirs = [LabelFactory(shop=other.shop, state="received").id]
    settle = reconciling.settle

    def settle_and_interrupt(label: ShippingLabel) -> None:
        """Settle a label; once one of the other shop is, another one of it is interrupted."""
        settle(label)
        if [label.id] == theirs:
            theirs.append(LabelFactory(shop=other.shop, state="received").id)

    monkeypatch.setattr(reconciling, "settle", settle_and_interrupt)
    caplog.set_level("INFO", "labels.reconciling")
    assert reconcile() == {LabelState.GENERATED: 22}
    taken = [record.label for record in caplog.records if record.message == "label reconciled"]  # type: ignore[attr-defined]  # its own
    assert [taken.index(each) < 12 for each in theirs] == [True, True]


def test_a_run_without_an_end_takes_a_label_up_again_after_the_usual_pause(
    own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where orders are interrupted faster than a slow carrier answers about them."""
    first, due = LabelFactory(shop=own.shop, days_ago=1, state="received").id, leases.due_in_turn()
    assert next(due) == first
    second = LabelFactory(shop=own.shop, state="received").id
    assert next(due) == second
    now_s = monotonic() + leases.ASK_AGAIN_AFTER.total_seconds() + 1
    monkeypatch.setattr(leases, "monotonic", lambda: now_s)
    assert list(due) == [first, second]


@pytest.mark.real_services
def test_what_is_interrupted_is_found_along_an_index(own: Caller) -> None:
    for days in range(3):
        LabelFactory(shop=own.shop, days_ago=days, state="failed")
    use_indexes(sort=False)  # of a handful of rows, a sort may cost as little
    plan = ShippingLabel.objects.interrupted().order_by("leased_until").values_list("id", flat=True).explain()
    assert "Index Scan using label_interrupted" in plan
    assert "Sort" not in plan


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


# Searches that are late

DAY_S = 24 * 3600
FAILURES = ["1", "29", "36", "37"]


def make_late(label: ShippingLabel, sandbox: Sandbox) -> None:
    """Let alpha make the parcel of a purchase after all."""
    contract = CarrierContract.objects.get(carrier_code="alpha")
    clients.client("alpha", is_test=False).create_label(shipment(label, contract), contract.credentials)


@pytest.mark.parametrize("code", FAILURES)
def test_a_documented_failure_frees_the_key_and_is_looked_up_after_an_hour_and_a_day(
    code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm(code, count=1)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_UNAVAILABLE")
    assert (row().state, row().idempotency_key, reconcile()) == (LabelState.FAILED, None, {})
    pass_time(WAIT_S - 60)
    buy_control(buyer)
    for wait_s, is_asked in ((0, False), (200, True), (WAIT_S, False), (DAY_S, True), (DAY_S, False)):
        pass_time(wait_s)
        assert reconcile() == ({LabelState.FAILED: 1} if is_asked else {})
    assert (row().state, row().ask_again_at) == (LabelState.FAILED, None)


def test_a_failure_is_looked_up_each_day_of_a_week_where_nothing_was_bought_since(
    buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    for day in range(10):
        pass_time(DAY_S + 60)
        reconcile()
        assert sandbox.questions() == min(day + 1, 7)
    assert (row().state, row().ask_again_at) == (LabelState.FAILED, None)


def test_a_failure_whose_account_is_gone_is_asked_about_for_a_week_too(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    CarrierContract.objects.all().delete()
    for _ in range(2):
        pass_time(3 * DAY_S)
        assert reconcile() == {LabelState.FAILED: 1}
    assert row().ask_again_at is not None
    pass_time(DAY_S + 60)
    assert reconcile() == {LabelState.FAILED: 1}
    assert row().ask_again_at is None


@pytest.mark.parametrize("is_gone", [True, False])
def test_parcels_of_a_failure_that_nobody_could_cancel_for_a_week_wait_for_a_person(
    is_gone: bool, buyer: Caller, sandbox: Sandbox
) -> None:
    """Runbook: parcels found are cancelled; if they can't be, they wait for a person."""
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    outcomes.save_late(row(), ["XU123456789FR"])
    if is_gone:
        CarrierContract.objects.all().delete()
    else:
        CarrierContract.objects.update(encrypted_credentials="x")
    pass_time(6 * DAY_S)
    assert reconcile() == {LabelState.FAILED: 1}
    assert not ShippingLabel.objects.needing_decision().exists()
    pass_time(DAY_S + 60)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (row().tracking_numbers, row().cancelled_numbers) == (["XU123456789FR"], [])
    pass_time()
    assert list(ShippingLabel.objects.needing_decision()) == [row()]


def test_a_blind_search_of_a_day_later_is_not_believed(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    make_late(row(), sandbox)
    pass_time(DAY_S + 60)  # nothing reconciles meanwhile
    buy_control(buyer)
    sandbox.arm("unfound", operation=SEARCH, delay_s=10 * DAY_S)
    reconcile()
    sandbox.disarm()
    pass_time(DAY_S + 60)
    reconcile()
    assert all(map(sandbox.is_cancelled, sandbox.made(row().id)))


def test_what_is_found_of_a_failure_is_cancelled_and_told(
    buyer: Caller, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    make_late(row(), sandbox)
    (parcel,) = sandbox.made()
    pass_time(WAIT_S + 200)
    assert reconcile() == {LabelState.FAILED: 1}
    assert sandbox.is_cancelled(parcel)
    (told,) = [record for record in caplog.records if record.message == "parcels found of a failed purchase"]
    assert (told.levelname, vars(told)["numbers"]) == ("ERROR", parcel.tracking_number)
    pass_time(2 * DAY_S)
    assert (reconcile(), reconcile()) == ({LabelState.FAILED: 1}, {})


def test_a_parcel_that_is_found_a_day_after_others_were_cancelled_is_cancelled_too(
    buyer: Caller, sandbox: Sandbox
) -> None:
    interrupt(buyer, sandbox, "closemade")
    pass_time()
    assert reconcile() == {LabelState.FAILED: 1}
    make_late(row(), sandbox)
    pass_time(DAY_S + 60)
    assert reconcile() == {LabelState.FAILED: 1}
    assert list(map(sandbox.is_cancelled, sandbox.made())) == [True, True]


def test_more_parcels_than_a_search_shows_are_cancelled_by_several(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(parcels=[{"weight": 1}] * 25), key=KEY)
    make_late(row(), sandbox)
    pass_time(WAIT_S + 200)
    for _ in range(3):
        assert reconcile() == {LabelState.FAILED: 1}
        pass_time(400)
    assert len(row().cancelled_numbers) == 25
    assert all(map(sandbox.is_cancelled, sandbox.made()))


@pytest.mark.parametrize(("fault", "product_code"), [("38", "alpha-13"), ("40015", BETA)])
def test_a_refusal_and_a_carrier_that_cannot_be_asked_end_it(
    fault: str, product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm(fault, count=1)
    post(buyer, order(product_code), key=KEY)
    assert (row().state, row().ask_again_at) == (LabelState.FAILED, None)
