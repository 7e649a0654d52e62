"""Purchases that were interrupted are finished or classified: by asking alpha, never by buying again."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.errors import OutcomeUnknown
from carriers.shipment import PurchasedLabel
from labels import db_retry, purchase
from labels.models import LabelState, ShippingLabel, lease
from labels.reconciling import ASK_AGAIN_AFTER, reconcile
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, bought_label, contract, in_threads, nothing_finished, row
from tests.labels.orders import PRODUCT, order, post, weighing
from tests.labels.test_create import pages
from tests.support.api import Caller, client
from tests.support.paths import SHIPMENTS

BETA = PRODUCT["beta"]
SEARCH, PRINT = "trackWithSenderRef", "getReservedSkybillWithTypeAndModeAuth"
KEY = "k"
WAIT_S = 900


def interrupt(buyer: Caller, sandbox: Sandbox, fault: str, body: Any = None, **facts: Any) -> ShippingLabel:
    """Order a label, and let it end as it does when the answer never came."""
    sandbox.arm(fault, count=1, **facts)
    response = post(buyer, body or order(), key=KEY)
    assert response.json()["code"].endswith("_OUTCOME_UNKNOWN")
    assert row().state == LabelState.UNKNOWN
    return row()


def as_if_killed() -> None:
    """Let the rows look as a process leaves them that is killed while the carrier works."""
    ShippingLabel.objects.update(
        state=LabelState.PURCHASING,
        leased_until=lease(),
        tracking_numbers=[],
        error_code="",
        error_message="",
        error_status=None,
        finished_at=None,
    )


def pass_time(seconds: float = 120) -> None:
    """Let this much time pass for all rows."""
    for label in ShippingLabel.objects.all():
        label.created_at -= timedelta(seconds=seconds)
        label.leased_until -= timedelta(seconds=seconds)
        label.save(update_fields=["created_at", "leased_until"])
    CarrierContract.objects.update(updated_at=F("updated_at") - timedelta(seconds=seconds))


def assert_bought(buyer: Caller, sandbox: Sandbox) -> None:
    """Check that the label is there for the shop, bought once, and that the key brings it."""
    label = row()
    made = [parcel.tracking_number for parcel in sandbox.made()]
    assert (label.state, label.tracking_numbers, label.pdf) == (LabelState.GENERATED, made, None)
    assert (label.error_code, label.error_message, label.error_status) == ("", "", None)
    response = buyer.get(f"{SHIPMENTS}/{label.id}")
    assert (response.status_code, response.json()["trackingNumber"]) == (200, made[0])
    assert pages(client().get(response.json()["labelUrl"]).content) == len(made)


# --- alpha can be asked ---


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
    fault: str, buyer: Caller, sandbox: Sandbox, impatient: None
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


# --- What the storage refused ---


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_pdf_that_the_storage_refused_is_stored_as_soon_as_it_can_be(
    product_code: str, buyer: Caller, sandbox: Sandbox, folder: Path
) -> None:
    folder.write_text("no folder")
    assert_coded(post(buyer, order(product_code), key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert reconcile() == {LabelState.RECEIVED: 1}
    folder.unlink()
    # No time has to pass: nobody works on it.
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)
    assert reconcile() == {}


def test_a_process_killed_before_the_upload_loses_nothing(buyer: Caller, sandbox: Sandbox, folder: Path) -> None:
    folder.write_text("no folder")
    post(buyer, order(), key=KEY)
    folder.unlink()
    ShippingLabel.objects.update(leased_until=timezone.now() + timedelta(seconds=60))
    assert reconcile() == {}
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


def test_what_is_stored_and_not_recorded_so_is_counted_as_its_row_says(
    transactional_db: None, own: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    label = bought_label(own.shop, state="received")
    caplog.set_level("INFO", "labels.reconciling")
    with nothing_finished():
        assert reconcile() == {LabelState.RECEIVED: 1}
    assert row().state == LabelState.RECEIVED
    said = [record.state for record in caplog.records if record.message == "label reconciled"]  # type: ignore[attr-defined]  # its own
    assert said == [LabelState.RECEIVED]
    ShippingLabel.objects.update(leased_until=label.leased_until)
    assert reconcile() == {LabelState.GENERATED: 1}


def test_a_failure_that_could_not_be_recorded_is_not_counted(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise OperationalError

    interrupt(buyer, sandbox, "close")
    pass_time(WAIT_S + 1)
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", -1)
    monkeypatch.setattr(purchase, "save_state", fail)
    assert reconcile() == {LabelState.UNKNOWN: 1}


# --- Whose it is ---


def test_the_oldest_is_taken_up_first(own: Caller, caplog: pytest.LogCaptureFixture) -> None:
    aged = [bought_label(own.shop, days_ago=days, state="received") for days in (2, 3, 1)]
    caplog.set_level("INFO", "labels.reconciling")
    assert reconcile() == {LabelState.GENERATED: 3}
    taken = [record.label for record in caplog.records if record.message == "label reconciled"]  # type: ignore[attr-defined]  # its own
    assert taken == [aged[1].id, aged[0].id, aged[2].id]


@pytest.mark.real_services
def test_what_is_interrupted_is_found_along_an_index(own: Caller) -> None:
    for days in range(3):
        bought_label(own.shop, days_ago=days, state="failed")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    plan = ShippingLabel.objects.interrupted().order_by("leased_until").values_list("id", flat=True).explain()
    assert "Index Scan using label_open" in plan
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
    purchase.failed(late, OutcomeUnknown("alpha", "no whole answer in time"))
    assert row().leased_until == taken_until


@pytest.mark.parametrize("state", [LabelState.GENERATED, LabelState.FAILED, LabelState.INCOMPLETE])
def test_a_purchase_that_is_over_is_left_alone(state: LabelState, buyer: Caller, sandbox: Sandbox) -> None:
    post(buyer, order())
    ShippingLabel.objects.update(state=state)
    pass_time(10 * WAIT_S)
    before = ShippingLabel.objects.values().get()
    assert reconcile() == {}
    assert ShippingLabel.objects.values().get() == before
    assert sandbox.questions() == 0


def test_several_reconcilers_at_once_do_the_work_once(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("closemade")
    for number in range(4):  # a fifth in a row would be given a rest
        post(buyer, order(orderId=str(number)))
    sandbox.disarm()
    pass_time()
    sandbox.arm("slow", operation=SEARCH, delay_s=0.2)
    runs = in_threads(3, lambda _: reconcile())
    assert sum(run.total() for run in runs) == 4
    assert sandbox.questions() == 4
    assert set(ShippingLabel.objects.values_list("state", flat=True)) == {LabelState.GENERATED}
    assert len(sandbox.made()) == 4


def test_a_retry_and_a_reconciler_at_once_finish_a_label_once(buyer: Caller, sandbox: Sandbox, folder: Path) -> None:
    folder.write_text("no folder")
    post(buyer, order(), key=KEY)
    folder.unlink()

    def do(number: int) -> Any:
        return reconcile() if number else post(buyer, order(), key=KEY).status_code

    status = in_threads(2, do)[0]
    assert status == 201
    assert_bought(buyer, sandbox)


def test_one_shops_trouble_holds_up_no_other(buyer: Caller, other: Caller, sandbox: Sandbox) -> None:
    theirs = contract(other.shop, "alpha")
    sandbox.arm("closemade", count=2)
    for caller in (buyer, other):
        post(caller, order(), key=KEY)
    CarrierContract.objects.filter(id=theirs.id).update(encrypted_credentials="x")
    pass_time()
    assert reconcile() == {LabelState.GENERATED: 1, LabelState.UNKNOWN: 1}
    assert ShippingLabel.objects.get(shop="own").state == LabelState.GENERATED


def test_a_late_answer_of_a_purchase_given_up_is_kept(buyer: Caller, sandbox: Sandbox) -> None:
    """The process was stopped for so long that the row was declared failed; then the carrier's yes came in."""
    interrupt(buyer, sandbox, "close")
    stopped = row()
    pass_time(WAIT_S + 1)
    assert reconcile() == {LabelState.FAILED: 1}
    assert post(buyer, order(), key=KEY).status_code == 201
    purchase.keep(stopped, PurchasedLabel(("XS1",), b"%PDF-1.4 %%EOF"))
    kept = ShippingLabel.objects.get(id=stopped.id)
    assert (kept.state, kept.tracking_numbers, kept.idempotency_key) == (LabelState.RECEIVED, ["XS1"], None)
