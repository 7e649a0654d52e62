"""Purchases that were interrupted are finished, cancelled or classified: by asking alpha, never by buying again."""

import pytest
from pytest_django.fixtures import Settings

from carriers.shipment import PurchasedLabel
from labels.lifecycle import outcomes
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import (
    BETA,
    CANCEL,
    KEY,
    WAIT_S,
    as_if_killed,
    assert_bought,
    buy_control,
    interrupt,
    pass_time,
)
from tests.labels.orders import order, post, weighing
from tests.support.api import Caller


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


def test_another_number_of_parcels_than_ordered_is_for_a_person_to_decide(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    ShippingLabel.objects.update(weights_kg=["1.25", "1.25"])
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.UNKNOWN: 1}
    label = row()
    assert label.tracking_numbers == [parcel.tracking_number for parcel in sandbox.made()]
    assert list(ShippingLabel.objects.needing_decision()) == [label]
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")


def test_a_number_that_came_and_is_not_found_yet_is_not_forgotten(buyer: Caller, sandbox: Sandbox) -> None:
    """The search may show one of two parcels for an hour: the other one is paid for all the same."""
    label = interrupt(buyer, sandbox, "nolabel")
    numbers = [*label.tracking_numbers, "XU000000019FR"]
    ShippingLabel.objects.update(tracking_numbers=numbers)
    pass_time()
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert row().tracking_numbers == numbers
    assert list(ShippingLabel.objects.needing_decision()) == [row()]


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
        assert set(reconcile()) <= {LabelState.UNKNOWN}
        assert_coded(post(buyer, order(BETA), key=KEY), 502, "BETA_OUTCOME_UNKNOWN")
        assert list(ShippingLabel.objects.needing_decision()) == []
    pass_time(700)
    assert reconcile() == {LabelState.FAILED: 1}
    failed = row()
    assert (failed.idempotency_key, failed.error_code, failed.pdf) == (None, "BETA_UNAVAILABLE", None)
    assert "is not billed. Nothing was made; a retry is safe." in failed.error_message
    assert post(buyer, order(BETA), key=KEY).status_code == 201
    pass_time(100_000)
    assert reconcile() == {}
