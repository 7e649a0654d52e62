"""``recover`` makes again what a restored database lost: rows, keys and parcels, and nothing is bought twice."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.core.management import CommandError
from django.db import transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.errors import CancellationRefused
from carriers.shipment import PickupPoint, PurchasedLabel
from labels.lifecycle import cancelling, decisions, from_receipts
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from labels.orders import shipment
from labels.pdfs import receipts, recovery, storage
from parcels.models import Parcel, TrackingNumber
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from shops.staff.audit.models import Action
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import Sandbox, assert_coded, nothing_finished, nothing_recorded, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import (
    BETA,
    CANCEL,
    KEY,
    WAIT_S,
    assert_bought,
    buy_control,
    interrupt,
    moment,
    pass_time,
)
from tests.labels.orders import PRODUCT, RECIPIENT, order, post, weighing
from tests.labels.test_storage_check import check
from tests.labels.urls import fetch
from tests.shops.commands import call
from tests.support.api import Caller
from tests.support.audit import changes
from tests.support.paths import SHIPMENTS
from tests.support.threads import Elsewhere

BODIES = [*map(order, PRODUCT.values()), order(parcels=weighing(1, 2))]


def recover(*arguments: str) -> list[str]:
    return call("recover", *arguments)[0].splitlines()


def values(model: Any = ShippingLabel) -> list[dict[str, Any]]:
    return list(model.objects.order_by("pk").values())


def without_lease(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"leased_until": None} for row in rows]


@pytest.mark.parametrize("body", BODIES)
def test_a_label_bought_after_the_moment_is_put_back_with_key_and_parcel(
    body: Any, kept: str, buyer: Caller, sandbox: Sandbox
) -> None:
    restore = moment()
    bought = post(buyer, body, key=KEY).json()
    before, parcels = values(), values(Parcel)
    restore()
    assert recover() == ["1 labels put back: label_generated", "0 labels reconciled"]
    assert (without_lease(values()), values(Parcel)) == (without_lease(before), parcels)
    assert [event.type for event in WebhookEvent.objects.all()] == ["label.generated"]
    replayed = post(buyer, body, key=KEY)
    assert (replayed["Idempotent-Replayed"], replayed.json()["id"], sandbox.calls()) == ("true", bought["id"], 1)
    assert fetch(replayed.json()["labelUrl"]).is_pdf
    assert recover() == ["0 labels reconciled"]


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_purchase_under_way_at_the_moment_is_finished_without_a_person(
    product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    with nothing_recorded():
        post(buyer, order(product_code), key=KEY)
    restore = moment()
    pass_time()
    recover()
    restore()
    assert row().state == LabelState.PURCHASING
    assert recover() == ["1 labels brought up to date: label_generated", "0 labels reconciled"]
    assert_bought(buyer, sandbox)


def test_a_label_whose_answer_was_lost_is_looked_for_at_the_carrier(buyer: Caller, sandbox: Sandbox) -> None:
    restore = moment()
    interrupt(buyer, sandbox, "resetmade")
    sandbox.disarm()
    restore()
    assert recover() == ["1 labels put back: unknown", "1 labels reconciled"]
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made()] == [True]
    assert row().error_code == "ALPHA_UNAVAILABLE"


def test_a_purchase_that_was_only_reserved_is_in_doubt_again(buyer: Caller, sandbox: Sandbox) -> None:
    restore = moment()
    with nothing_recorded():
        post(buyer, order(BETA), key=KEY)
    restore()
    assert recover() == ["1 labels put back: purchasing", "0 labels reconciled"]
    pass_time()
    assert recover() == ["1 labels reconciled"]
    assert_bought(buyer, sandbox)


@pytest.mark.parametrize("product_code", PRODUCT.values())
@pytest.mark.parametrize("is_bought_before", [True, False])
def test_a_cancellation_after_the_moment_holds(is_bought_before: bool, product_code: str, buyer: Caller) -> None:
    restore = moment()
    label_id = post(buyer, order(product_code), key=KEY).json()["id"]
    if is_bought_before:
        restore = moment()
    cancelling.cancel(row())
    before, parcels = values(), values(Parcel)
    restore()
    done = "brought up to date" if is_bought_before else "put back"
    assert recover() == [f"1 labels {done}: cancelled", "0 labels reconciled"]
    assert without_lease(values()) == without_lease(before)
    assert [parcel["id"] for parcel in values(Parcel)] == [parcel["id"] for parcel in parcels]
    assert buyer.get(f"{SHIPMENTS}/{label_id}").status_code == 404
    assert buyer.look_up(row().tracking_number).status_code == 404
    assert WebhookEvent.objects.latest("id").type == "label.cancelled"
    assert post(buyer, order(product_code), key=KEY).json()["code"] == "LABEL_CANCELLED"


@pytest.mark.parametrize("is_asked_before", [True, False])
def test_a_label_kept_in_part_after_the_moment_is_a_parcel_of_its_own_numbers_alone(
    is_asked_before: bool, buyer: Caller, sandbox: Sandbox
) -> None:
    post(buyer, order(parcels=weighing(1, 2)), key=KEY)
    cancelled, left = row().tracking_numbers
    sandbox.server.state.ledger.collected.add(("alpha", left))
    restore = moment()
    assert cancelling.cancel(row()).state == LabelState.CANCELLING
    if is_asked_before:
        restore = moment()
    decisions.keep(label=row())
    before, numbers = values(), list(TrackingNumber.objects.values_list("number", "state"))
    assert numbers == [(left, "bought")]
    restore()
    assert recover() == ["1 labels brought up to date: label_generated", "0 labels reconciled"]
    assert without_lease(values()) == without_lease(before)
    assert list(TrackingNumber.objects.values_list("number", "state")) == numbers
    parcel = buyer.look_up(left).json()
    assert (parcel["trackingId"], parcel["trackingNumbers"]) == (left, [left])
    assert buyer.look_up(cancelled).status_code == 404


def test_a_label_kept_in_part_that_waited_for_the_storage_at_the_moment_is_of_the_parcels_that_are_left(
    buyer: Caller, sandbox: Sandbox
) -> None:
    with nothing_finished():
        post(buyer, order(parcels=weighing(1, 2)), key=KEY)
    restore = moment()
    pass_time()
    reconcile()
    cancelled, left = row().tracking_numbers
    sandbox.server.state.ledger.collected.add(("alpha", left))
    cancelling.cancel(row())
    decisions.keep(label=row())
    restore()
    assert recover() == ["1 labels brought up to date: label_generated", "0 labels reconciled"]
    assert (row().tracking_numbers, row().cancelled_numbers) == ([left], [cancelled])


def test_a_row_that_knows_more_than_its_receipt_stays(buyer: Caller) -> None:
    post(buyer, order())
    old = storage.read(receipts.name(row().id))
    cancelling.cancel(row())
    assert old
    storage.write(receipts.name(row().id), old)
    assert recover() == ["0 labels reconciled"]
    assert row().state == LabelState.CANCELLED


def test_a_pdf_that_is_lost_too_is_fetched_from_alpha(buyer: Caller, sandbox: Sandbox) -> None:
    restore = moment()
    post(buyer, order(), key=KEY)
    storage.delete(row().pdf_key)
    restore()
    assert recover() == ["1 labels put back: unknown", "1 labels reconciled"]
    assert recover() == ["0 labels reconciled"]
    assert_bought(buyer, sandbox)


def test_a_label_that_was_kept_after_the_moment_is_a_parcel_again_when_its_lost_pdf_is_fetched(
    buyer: Caller, sandbox: Sandbox
) -> None:
    post(buyer, order())
    sandbox.arm("2", operation=CANCEL, count=1)
    cancelling.cancel(row())
    restore = moment()
    decisions.keep(label=row())
    storage.delete(row().pdf_key)
    restore()
    assert recover() == ["1 labels brought up to date: unknown", "1 labels reconciled"]
    assert row().state == LabelState.GENERATED
    assert buyer.look_up(row().tracking_number).status_code == 200


def test_a_label_of_beta_stays_bought_though_its_pdf_is_lost_too(buyer: Caller) -> None:
    restore = moment()
    post(buyer, order(BETA), key=KEY)
    storage.delete(row().pdf_key)
    restore()
    assert recover() == ["1 labels put back: label_generated", "0 labels reconciled"]


@pytest.mark.real_services
def test_of_two_at_once_one_puts_a_label_back(transactional_db: None, buyer: Caller) -> None:
    restore = moment()
    post(buyer, order(), key=KEY)
    restore()
    done: list[list[str]] = []
    other = Elsewhere(lambda: done.append(recover()))
    with transaction.atomic():
        assert [*from_receipts.recover()] == ["labels put back: label_generated"]
        other.begin()
    other.join()
    assert done == [["0 labels reconciled"]]


def test_a_dry_run_says_it_and_changes_nothing(buyer: Caller) -> None:
    restore = moment()
    post(buyer, order())
    restore()
    assert recover("--dry-run") == ["1 labels put back: label_generated"]
    assert values() == []


def test_a_label_lost_before_the_newest_one_is_put_back_by_its_month(buyer: Caller) -> None:
    label_id = post(buyer, order()).json()["id"]
    ShippingLabel.objects.all().delete()
    LabelFactory(shop=buyer.shop, days_ago=-1)
    assert recover() == ["0 labels reconciled"]
    last_month = f"{timezone.now() - timedelta(days=31):%Y-%m}"
    assert recover("--since", last_month) == ["1 labels put back: label_generated", "0 labels reconciled"]
    assert ShippingLabel.objects.filter(id=label_id).exists()


def test_an_empty_month_is_none(buyer: Caller) -> None:
    restore = moment()
    post(buyer, order())
    restore()
    with pytest.raises(CommandError, match="--since: needs a month"):
        recover("--since", "")
    assert values() == []


def test_a_storage_that_is_down_at_the_reservation_refuses_no_order(
    buyer: Caller, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir()
    (folder / "receipts").write_text("no folder")
    assert post(buyer, order()).status_code == 201
    assert [record.message for record in caplog.records].count("receipt not written") == 2


def test_a_receipt_is_encrypted_and_needs_its_key(buyer: Caller, settings: Settings) -> None:
    restore = moment()
    post(buyer, order(), key=KEY)
    content = storage.read(receipts.name(row().id))
    assert content
    assert b"Paris" not in content
    restore()
    settings.CREDENTIALS_KEYS = ["A" * 43 + "="]
    with pytest.raises(CommandError, match="CREDENTIALS_KEYS"):
        recover()


def test_a_state_that_was_cut_off_in_a_receipt_leaves_the_one_before(buyer: Caller, folder: Path) -> None:
    """A bought label's is a line of its own, so that no file is replaced while labels are bought."""
    post(buyer, order())
    receipt = folder / receipts.name(row().id)
    whole = receipt.read_bytes()
    ordered, received = whole.split()
    for left in (ordered, ordered + b"\n", whole[:-1], ordered + b"\n" + received[:40]):
        receipt.write_bytes(left)
        assert state_in_receipt() == LabelState.PURCHASING
        receipts.try_to_write(row())
        assert state_in_receipt() == LabelState.GENERATED


def test_a_receipt_keeps_two_states_at_most(buyer: Caller, folder: Path) -> None:
    post(buyer, order(reference="FAULT COLLECTED"))
    for _ in range(3):
        with pytest.raises(cancelling.CancelError):
            cancelling.cancel(row())
        assert len((folder / receipts.name(row().id)).read_bytes().split()) == 2
    assert state_in_receipt() == LabelState.GENERATED


def state_in_receipt() -> str:
    kept = receipts.read(row().id)
    assert kept
    return kept.state


@pytest.mark.parametrize("name", [".{}.x7Hs3a", "{}~", ".DS_Store"])
def test_what_a_copy_of_the_storage_has_left_is_no_receipt(name: str, buyer: Caller, folder: Path) -> None:
    restore = moment()
    post(buyer, order(), key=KEY)
    receipt = folder / receipts.name(row().id)
    receipt.with_name(name.format(receipt.name)).write_bytes(receipt.read_bytes()[:40])
    restore()
    assert recover() == ["1 labels put back: label_generated", "0 labels reconciled"]


@pytest.mark.parametrize("command", ["recover", "check_labels"])
def test_a_folder_that_is_not_mounted_is_no_storage_without_labels(command: str, buyer: Caller, folder: Path) -> None:
    restore = moment()
    post(buyer, order(), key=KEY)
    if command == "recover":
        restore()
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(CommandError, match=r"the storage can't be reached \(ENOENT\)"):
        call(command)


def test_a_label_of_a_shop_that_is_gone_is_named(buyer: Caller) -> None:
    post(buyer, order())
    label = row()
    label.shop_id = "gone"
    receipts.write(label)
    ShippingLabel.objects.all().delete()
    assert recover() == ["1 receipts of a shop that is gone", "0 labels reconciled"]


def test_an_erased_customer_does_not_come_back_with_the_label(buyer: Caller) -> None:
    restore = moment()
    post(buyer, order(), key=KEY)
    call("erase_customer", buyer.shop.id, RECIPIENT["email"])
    restore()
    assert recover() == ["1 labels put back: label_generated", "0 labels reconciled"]
    assert (row().recipient["lastName"], row().idempotency_key) == ("", KEY)
    assert RECIPIENT["lastName"] not in str(values(Parcel))


@pytest.mark.parametrize("state", [LabelState.RECEIVED, LabelState.CANCELLING])
def test_an_erased_customer_does_not_come_back_with_a_label_that_was_not_over_at_the_moment(
    state: str, buyer: Caller, sandbox: Sandbox
) -> None:
    """It was erased when it was bought, or when alpha had refused to cancel it."""
    if state == LabelState.RECEIVED:
        with nothing_finished():
            post(buyer, order(), key=KEY)
    else:
        post(buyer, order(), key=KEY)
        sandbox.arm("2", operation=CANCEL, count=1)
        cancelling.cancel(row())
    assert row().state == state
    restore = moment()
    pass_time(400)
    sandbox.arm("3", operation=CANCEL, count=1)
    reconcile()
    call("erase_customer", buyer.shop.id, RECIPIENT["email"])
    restore()
    assert recover() == ["1 labels brought up to date: label_generated", "0 labels reconciled"]
    assert row().recipient["lastName"] == ""
    assert RECIPIENT["lastName"] not in str(values(Parcel))


def test_a_key_is_again_that_of_the_later_purchase(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "reset")
    restore = moment()
    pass_time(WAIT_S)
    buy_control(buyer)
    reconcile()
    bought = post(buyer, order(), key=KEY).json()["id"]
    call("erase_customer", buyer.shop.id, RECIPIENT["email"])  # receipts, the newest first
    calls = sandbox.calls()
    restore()
    recover()
    replayed = post(buyer, order(), key=KEY)
    assert (replayed.status_code, replayed.json().get("id"), sandbox.calls()) == (201, bought, calls)


def test_receipts_go_with_the_addresses(buyer: Caller, settings: Settings, folder: Path) -> None:
    post(buyer, order())
    settings.KEEP_LABEL_ADDRESSES_DAYS = 40
    call("apply_retention")
    os.utime(folder / receipts.name(row().id), (1e9, 1e9))
    settings.KEEP_LABEL_ADDRESSES_DAYS = 1
    call("apply_retention")
    assert not storage.is_stored(receipts.name(row().id))


def test_a_receipt_written_long_after_the_purchase_loses_the_addresses_with_the_row(
    buyer: Caller, settings: Settings
) -> None:
    restore = moment()
    post(buyer, order())
    pass_time(2 * 24 * WAIT_S)
    cancelling.cancel(row())
    settings.KEEP_LABEL_ADDRESSES_DAYS = 1
    call("apply_retention")
    kept = receipts.read(row().id)
    assert kept
    assert (kept.state, kept.recipient["lastName"], kept.reference) == (LabelState.CANCELLED, "", "")
    restore()
    assert recover() == ["1 labels put back: cancelled", "0 labels reconciled"]


def test_an_erasure_during_a_question_about_a_failed_label_leaves_nobody_in_its_receipt(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The carrier made a parcel of it after all, and has it by now, so the label becomes a person's."""
    sandbox.arm("1", count=1)
    post(buyer, order())
    alpha, contract = clients.client("alpha", is_test=False), CarrierContract.objects.get(carrier_code="alpha")
    (number,) = alpha.create_label(shipment(row(), contract), contract.credentials).tracking_numbers
    sandbox.server.state.ledger.collected.add(("alpha", number))
    pass_time(WAIT_S + 200)

    def cancel(*_: object) -> NoReturn:
        call("erase_customer", buyer.shop.id, RECIPIENT["email"])
        raise CancellationRefused("alpha", "taken in charge")

    with monkeypatch.context() as patch:
        patch.setattr(type(alpha), "cancel", cancel)
        reconcile()
    assert (row().state, people_in_receipt()) == (LabelState.FAILED, [""])
    assert [entry.action for entry in changes()] == [Action.REMOVED]  # nothing is on record that was not done
    pass_time()
    reconcile()
    assert (row().state, row().tracking_numbers, people_in_receipt()) == (LabelState.UNKNOWN, [number], [""])


def people_in_receipt() -> list[str]:
    kept = receipts.read(row().id)
    return [kept.recipient["lastName"]] if kept else []


# Labels bought while the database was away


@pytest.mark.parametrize("body", [*map(order, PRODUCT.values()), order(parcels=weighing(1, 2))])
def test_it_is_recorded_with_its_numbers_without_asking_the_carrier(
    body: Any, kept: str, buyer: Caller, sandbox: Sandbox
) -> None:
    with nothing_recorded():
        assert "_OUTCOME_UNKNOWN" in post(buyer, body, key=KEY).json()["code"]
    assert row().state == LabelState.PURCHASING
    pass_time()
    calls = sandbox.calls()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert row().tracking_numbers == [parcel.tracking_number for parcel in sandbox.made()]
    assert fetch(post(buyer, body, key=KEY).json()["labelUrl"]).is_pdf
    assert (sandbox.questions(), sandbox.calls()) == (0, calls)
    assert not storage.is_stored(recovery.facts_key(row()))
    assert check() == ([], "")


def test_it_is_told_by_check_labels_until_then(buyer: Caller) -> None:
    with nothing_recorded():
        post(buyer, order(BETA), key=KEY)
    told = f"{row().id} of shop own, purchasing"
    assert sorted(check()[0]) == [f"not finished: {told}", f"not recorded: {told}"]


def test_a_storage_that_cannot_be_asked_decides_nothing(buyer: Caller, sandbox: Sandbox, folder: Path) -> None:
    with nothing_recorded():
        post(buyer, order(), key=KEY)
    pass_time()
    folder.rename(folder.with_name("away"))
    folder.write_text("no folder")
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert sandbox.questions() == 0
    folder.unlink()
    folder.with_name("away").rename(folder)
    pass_time(400)
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


def test_with_neither_database_nor_storage_the_numbers_are_in_the_log(
    buyer: Caller, sandbox: Sandbox, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("no folder")
    with nothing_recorded():
        assert_coded(post(buyer, order(BETA), key=KEY), 502, "BETA_OUTCOME_UNKNOWN")
    (alarm,) = [record for record in caplog.records if record.levelname == "CRITICAL"]
    assert vars(alarm)["tracking_numbers"] == sandbox.made()[0].tracking_number
    assert (vars(alarm)["carrier"], vars(alarm)["shop"]) == ("beta", buyer.shop.id)


def test_a_warning_and_the_pickup_point_are_recorded_too(buyer: Caller) -> None:
    point = PickupPoint("1234A", name="Tabac", address1="1 rue A", zip_code="75011", city="Paris", country_code="FR")
    label = LabelFactory(shop=buyer.shop, state=LabelState.PURCHASING)
    recovery.save(label, PurchasedLabel(("N1",), {"N1": b"%PDF-"}, warnings=("Ligne coupée",), pickup_point=point))
    found = recovery.find(label)
    assert found is not None
    assert (found.warnings, found.pickup_point) == (("Ligne coupée",), point)
