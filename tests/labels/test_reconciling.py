"""Purchases that were interrupted are finished, cancelled or classified: by asking alpha, never by buying again."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.shipment import PurchasedLabel
from labels.errors import PurchaseFailedError
from labels.lifecycle import cancelling, outcomes
from labels.lifecycle.reconciling import ASK_AGAIN_AFTER, reconcile
from labels.models import LabelState, ShippingLabel
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.interruptions import (
    BETA,
    CANCEL,
    KEY,
    PRINT,
    SEARCH,
    WAIT_S,
    as_if_killed,
    assert_bought,
    buy_control,
    interrupt,
    pass_time,
)
from tests.labels.orders import LINKED, order, post, weighing
from tests.support.api import Caller


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("fault", ["closemade", "resetmade", "garbled", "made502"])
def test_what_alpha_made_and_cannot_print_again_is_cancelled_and_the_key_is_free(
    fault: str,
    is_killed: bool,
    buyer: Caller,
    sandbox: Sandbox,
) -> None:
    interrupt(buyer, sandbox, fault)
    if is_killed:
        as_if_killed()
    pass_time()
    assert reconcile() == {LabelState.FAILED: 1}
    (parcel,) = sandbox.made()
    assert sandbox.is_cancelled(parcel)
    failed = row()
    assert (failed.idempotency_key, failed.tracking_numbers, failed.error_status) == (None, [], 502)
    assert failed.cancelled_numbers == [parcel.tracking_number]
    assert "found without their PDF, were cancelled" in failed.error_message
    assert reconcile() == {}
    again = post(buyer, order(), key=KEY)
    assert (again.status_code, "Idempotent-Replayed" in again) == (201, False)
    assert [sandbox.is_cancelled(each) for each in sandbox.made()] == [True, False]


def test_what_alpha_made_and_the_storage_has_is_the_shops_and_is_not_cancelled(buyer: Caller, sandbox: Sandbox) -> None:
    """The database was restored to a moment at which the purchase was under way."""
    given = post(buyer, order(parcels=weighing(1, 2)), key=KEY).json()
    as_if_killed()
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert not any(map(sandbox.is_cancelled, sandbox.made()))
    assert_bought(buyer, sandbox)
    replayed = post(buyer, order(parcels=weighing(1, 2)), key=KEY)
    assert (replayed.status_code, replayed.json()["id"]) == (201, given["id"])


@pytest.mark.parametrize("fault", ["nolabel", "notpdf", "base64"])
def test_a_pdf_that_did_not_come_is_fetched_by_the_reservations_number(
    fault: str, buyer: Caller, sandbox: Sandbox
) -> None:
    label = interrupt(buyer, sandbox, fault, order(parcels=weighing(1, 2)))
    assert label.reservation_number == sandbox.made()[0].reservation_number
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)
    assert sandbox.questions() == 0
    response = post(buyer, order(parcels=weighing(1, 2)), key=KEY)
    assert (response.status_code, response["Idempotent-Replayed"]) == (201, "true")
    assert len(sandbox.made()) == 2


def test_a_bought_label_keeps_its_reservations_number(buyer: Caller, sandbox: Sandbox) -> None:
    post(buyer, order())
    assert row().reservation_number == sandbox.made()[0].reservation_number != ""


@pytest.mark.parametrize("fault", ["closemade", "hangmade"])
def test_what_ended_without_an_answer_is_asked_about_at_once(
    fault: str, buyer: Caller, sandbox: Sandbox, short_timeout: None
) -> None:
    interrupt(buyer, sandbox, fault)
    assert reconcile() == {LabelState.FAILED: 1}
    assert sandbox.is_cancelled(sandbox.made()[0])


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


def test_after_an_hour_a_parcel_that_was_not_cancelled_is_a_persons(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200, count=1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    pass_time(3700)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert not sandbox.is_cancelled(sandbox.made()[0])
    assert row().tracking_numbers == [sandbox.made()[0].tracking_number]


def test_a_parcel_that_alpha_has_taken_in_charge_stays_for_a_person(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    (parcel,) = sandbox.made()
    sandbox.server.state.ledger.collect("alpha", parcel.tracking_number)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (row().tracking_numbers, row().idempotency_key) == ([parcel.tracking_number], KEY)


def test_of_several_parcels_those_cancelled_are_remembered(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade", order(parcels=weighing(1, 2, 3)))
    numbers = [parcel.tracking_number for parcel in sandbox.made()]
    sandbox.server.state.ledger.collect("alpha", numbers[1])
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (row().tracking_numbers, row().cancelled_numbers) == (numbers, [numbers[0], numbers[2]])
    asked = sandbox.questions()
    pass_time(400)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert sandbox.questions() == asked + 2  # the search, and the one that is left


def test_a_killed_cancellation_is_ended_by_the_next_run(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(buyer, sandbox, "closemade")
    with monkeypatch.context() as patched:
        patched.setattr(cancelling, "record", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            reconcile()
    pass_time(WAIT_S + 1)
    buy_control(buyer)
    assert reconcile() == {LabelState.FAILED: 1}  # the search does not show it any more
    assert row().idempotency_key is None


def raise_interrupt(*args: object) -> None:
    raise KeyboardInterrupt


def test_an_answer_that_comes_while_its_parcel_is_cancelled_is_not_kept(buyer: Caller, sandbox: Sandbox) -> None:
    """The process was stopped for so long that its parcel was found and cancelled; then the carrier's yes came in."""
    interrupt(buyer, sandbox, "closemade")
    stopped = row()
    assert reconcile() == {LabelState.FAILED: 1}
    with pytest.raises(PurchaseFailedError):
        outcomes.keep(stopped, PurchasedLabel(("XS1",), b"%PDF-1.4 %%EOF"))
    assert (row().state, row().pdf) == (LabelState.FAILED, None)


@pytest.mark.parametrize("wait_s", [0.001, WAIT_S])
def test_what_alpha_does_not_know_at_once_may_still_be_made(
    wait_s: float, buyer: Caller, sandbox: Sandbox, settings: Settings
) -> None:
    settings.RECONCILE_WAIT_S = wait_s
    interrupt(buyer, sandbox, "close")
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (reconcile(), sandbox.questions()) == ({}, 1)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")


def test_all_parcels_that_are_found_are_cancelled(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade", order(parcels=weighing(1, 2, 3)))
    pass_time()
    assert reconcile() == {LabelState.FAILED: 1}
    assert all(map(sandbox.is_cancelled, sandbox.made()))
    assert row().cancelled_numbers == [parcel.tracking_number for parcel in sandbox.made()]


def test_more_parcels_than_a_search_shows_are_finished_by_their_reservation(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "nolabel", order(parcels=weighing(*[1] * 12)))
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)
    assert len(row().tracking_numbers) == 12


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


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_alpha_does_not_know_yet_stays_unknown(
    is_killed: bool,
    buyer: Caller,
    sandbox: Sandbox,
    settings: Settings,
) -> None:
    settings.RECONCILE_WAIT_S = WAIT_S
    interrupt(buyer, sandbox, "close")
    if is_killed:
        as_if_killed()
    pass_time(WAIT_S - 60)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    label = row()
    assert (label.state, label.idempotency_key, label.error_status) == (LabelState.UNKNOWN, KEY, 502)
    assert abs(label.leased_until - timezone.now() - ASK_AGAIN_AFTER) < timedelta(minutes=1)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
    assert (reconcile(), sandbox.questions(), sandbox.calls()) == ({}, 1, 1)


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_alpha_does_not_know_after_the_wait_was_not_made(
    is_killed: bool,
    buyer: Caller,
    sandbox: Sandbox,
    settings: Settings,
) -> None:
    settings.RECONCILE_WAIT_S = WAIT_S
    interrupt(buyer, sandbox, "close")
    if is_killed:
        as_if_killed()
    pass_time(WAIT_S + 1)
    buy_control(buyer)
    assert reconcile() == {LabelState.FAILED: 1}
    failed = row()
    assert (failed.idempotency_key, failed.error_code, failed.error_status) == (None, "ALPHA_UNAVAILABLE", 502)
    assert "a retry is safe" in failed.error_message
    assert reconcile() == {}
    assert post(buyer, order(), key=KEY).status_code == 201
    assert len(sandbox.made()) == 2  # the control's too


@pytest.mark.parametrize("fault", ["late", "unfound"])
def test_what_the_search_finds_late_is_not_bought_twice(fault: str, buyer: Caller, sandbox: Sandbox) -> None:
    if fault == "late":
        interrupt(buyer, sandbox, "late", delay_s=3600)
    else:
        interrupt(buyer, sandbox, "closemade")
        sandbox.arm("unfound", delay_s=3600)
    pass_time()
    assert reconcile() == {LabelState.UNKNOWN: 1}
    sandbox.disarm()
    for parcel in sandbox.made():
        object.__setattr__(parcel, "findable_at_s", 0)  # the hour is over
    pass_time(600)
    assert reconcile() == {LabelState.FAILED: 1}
    assert sandbox.is_cancelled(sandbox.made()[0])


@pytest.mark.parametrize("age_s", [120, WAIT_S + 1])
@pytest.mark.parametrize(
    ("operation", "fault"),
    [
        *((SEARCH, fault) for fault in ("close", "30", "soapfault", "html200")),
        *((CANCEL, fault) for fault in ("close", "30", "soapfault", "html200", "1")),
        *((PRINT, fault) for fault in ("nolabel", "1")),
    ],
)
def test_a_question_that_fails_decides_nothing(
    operation: str, fault: str, age_s: float, buyer: Caller, sandbox: Sandbox, settings: Settings
) -> None:
    settings.RECONCILE_WAIT_S = WAIT_S
    interrupt(buyer, sandbox, "nolabel" if operation == PRINT else "closemade")
    sandbox.arm(fault, operation=operation, count=1)
    pass_time(age_s)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert row().idempotency_key == KEY
    pass_time(400)
    if operation == PRINT:
        assert reconcile() == {LabelState.GENERATED: 1}
        assert_bought(buyer, sandbox)
    else:
        assert reconcile() == {LabelState.FAILED: 1}


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


def test_without_a_tracking_service_alpha_is_not_asked(buyer: Caller, sandbox: Sandbox, settings: Settings) -> None:
    interrupt(buyer, sandbox, "closemade")
    endpoint = settings.CARRIER_ENDPOINTS["alpha"] | {"tracking_url": None}
    settings.CARRIER_ENDPOINTS = settings.CARRIER_ENDPOINTS | {"alpha": endpoint}
    clients.client.cache_clear()
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert sandbox.questions() == 0


# --- beta can't be asked ---


@pytest.mark.parametrize("is_killed", [False, True])
def test_beta_is_held_as_unknown_and_never_called_again(
    is_killed: bool,
    buyer: Caller,
    sandbox: Sandbox,
) -> None:
    interrupt(buyer, sandbox, "closemade", order(BETA))
    if is_killed:
        as_if_killed()
    for _ in range(2):
        pass_time(10 * WAIT_S)
        assert reconcile() == {LabelState.UNKNOWN: 1}
        assert_coded(post(buyer, order(BETA), key=KEY), 502, "BETA_OUTCOME_UNKNOWN")
    assert list(ShippingLabel.objects.needing_decision()) == [row()]
    assert (sandbox.calls(), sandbox.questions(), len(sandbox.made())) == (1, 0, 1)


def test_what_beta_did_not_answer_is_held_at_once(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade", order(BETA))
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (reconcile(), sandbox.calls(), row().idempotency_key) == ({}, 1, KEY)


def test_the_numbers_that_beta_gave_are_kept(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade", order(LINKED, parcels=weighing(1, 2)), rank=2)
    pass_time(WAIT_S)
    reconcile()
    assert row().tracking_numbers == [sandbox.made()[0].tracking_number]
