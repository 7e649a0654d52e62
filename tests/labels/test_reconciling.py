"""Purchases that were interrupted are finished or classified: by asking alpha, never by buying again."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels.models import LabelState, ShippingLabel
from labels.reconciling import ASK_AGAIN_AFTER, reconcile
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.interruptions import (
    BETA,
    KEY,
    PRINT,
    SEARCH,
    WAIT_S,
    as_if_killed,
    assert_bought,
    interrupt,
    pass_time,
)
from tests.labels.orders import order, post, weighing
from tests.support.api import Caller


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("fault", ["closemade", "resetmade", "nolabel", "garbled", "made502"])
def test_what_alpha_made_is_found_and_finished(
    fault: str,
    is_killed: bool,
    buyer: Caller,
    sandbox: Sandbox,
) -> None:
    interrupt(buyer, sandbox, fault)
    if is_killed:
        as_if_killed()
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)
    response = post(buyer, order(), key=KEY)
    assert (response.status_code, response["Idempotent-Replayed"]) == (201, "true")
    assert len(sandbox.made()) == 1
    assert reconcile() == {}


@pytest.mark.parametrize("fault", ["closemade", "hangmade"])
def test_what_ended_without_an_answer_is_asked_about_at_once(
    fault: str, buyer: Caller, sandbox: Sandbox, short_timeout: None
) -> None:
    interrupt(buyer, sandbox, fault)
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


@pytest.mark.parametrize("wait_s", [0.001, WAIT_S])
def test_what_alpha_does_not_know_at_once_may_still_be_made(
    wait_s: float, buyer: Caller, sandbox: Sandbox, settings: Settings
) -> None:
    settings.RECONCILE_WAIT_S = wait_s
    interrupt(buyer, sandbox, "close")
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert (reconcile(), sandbox.questions()) == ({}, 1)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")


def test_all_parcels_of_a_label_are_found_in_their_order(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade", order(parcels=weighing(1, 2, 3)))
    pass_time()
    reconcile()
    assert_bought(buyer, sandbox)
    assert len(row().tracking_numbers) == 3


def test_more_parcels_than_a_search_shows_are_finished_by_the_numbers_that_came(
    buyer: Caller, sandbox: Sandbox
) -> None:
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
    ShippingLabel.objects.update(tracking_numbers=label.tracking_numbers[:known])
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
    assert reconcile() == {LabelState.FAILED: 1}
    failed = row()
    assert (failed.idempotency_key, failed.error_code, failed.error_status) == (None, "ALPHA_UNAVAILABLE", 502)
    assert "a retry is safe" in failed.error_message
    assert reconcile() == {}
    assert post(buyer, order(), key=KEY).status_code == 201
    assert len(sandbox.made()) == 1


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
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


@pytest.mark.parametrize("age_s", [120, WAIT_S + 1])
@pytest.mark.parametrize(
    ("operation", "fault"),
    [(SEARCH, "close"), (SEARCH, "30"), (SEARCH, "soapfault"), (SEARCH, "html200"), (PRINT, "nolabel"), (PRINT, "1")],
)
def test_a_question_that_fails_decides_nothing(
    operation: str, fault: str, age_s: float, buyer: Caller, sandbox: Sandbox, settings: Settings
) -> None:
    settings.RECONCILE_WAIT_S = WAIT_S
    interrupt(buyer, sandbox, "closemade")
    sandbox.arm(fault, operation=operation, count=1)
    pass_time(age_s)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert row().idempotency_key == KEY
    pass_time(400)
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


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


def test_what_the_new_account_does_not_know_may_be_made_on_the_old_one(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    pass_time(WAIT_S + 1)
    mine = CarrierContract.objects.get(carrier_code="alpha")
    mine.account_number = "12345678"
    mine.save()
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
    assert (sandbox.questions(), len(sandbox.made())) == (1, 1)


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
    interrupt(buyer, sandbox, "closemade", order(BETA, parcels=weighing(1, 2)), rank=2)
    pass_time(WAIT_S)
    reconcile()
    assert row().tracking_numbers == [sandbox.made()[0].tracking_number]
