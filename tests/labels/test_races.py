"""Races that a kill cannot show: slow, suspended and conflicting processes, played in one process at chosen moments."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.errors import OutcomeUnknown
from carriers.http.transport import UnreadableError
from carriers.shipment import PurchasedLabel
from labels.idempotency import IdempotencyKey
from labels.lifecycle import cancelling, decisions, leases, outcomes, parcels, purchase
from labels.lifecycle.errors import StorageUnavailableError
from labels.lifecycle.reconciling import reconcile
from labels.lifecycle.states import Event, move
from labels.models import LabelState, ShippingLabel, lease
from labels.pdfs import storage, unmerged
from labels.pdfs.folder import LabelFolder
from parcels.models import Parcel
from shops.api.errors.exceptions import ApiError
from shops.contracts.clients import client
from shops.db import clock
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import PDF, LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import CANCEL, KEY, buy_control, interrupt, pass_time
from tests.labels.orders import PRODUCT, order, post, weighing
from tests.labels.urls import fetch
from tests.models.label_carriers import make_one_more
from tests.support.api import Caller
from tests.support.paths import SHIPMENTS
from tests.support.sql import execute
from tests.support.threads import Elsewhere


def interrupted(buyer: Caller, minutes: int = 90, **fields: Any) -> ShippingLabel:
    """A purchase of alpha's that was begun some minutes ago, and whose lease is over."""
    now = timezone.now()
    times = {"created_at": now - timedelta(minutes=minutes), "leased_until": now - timedelta(minutes=1)}
    facts = {"state": LabelState.PURCHASING, "carrier_code": "alpha", "idempotency_key": KEY, **times}
    made: ShippingLabel = LabelFactory(shop=buyer.shop, **facts | fields)
    return made


def state(label: ShippingLabel) -> str:
    return str(ShippingLabel.objects.get(id=label.id).state)


def test_a_parcel_whose_number_is_known_is_never_declared_not_made(buyer: Caller) -> None:
    label = interrupted(buyer, state=LabelState.UNKNOWN, tracking_numbers=["XY000000001FR"], weights_kg=["1", "2"])
    buy_control(buyer)
    reconcile()
    assert state(label) == LabelState.UNKNOWN


@pytest.mark.parametrize(
    "meanwhile",
    [
        {"state": LabelState.FAILED, "idempotency_key": None, "leased_until": timezone.now() + timedelta(days=1)},
        {"state": LabelState.INCOMPLETE},
        {"leased_until": timezone.now() + timedelta(days=1)},
    ],
)
def test_a_suspended_reconciler_does_not_hold_a_label_changed_meanwhile(
    buyer: Caller, meanwhile: dict[str, Any]
) -> None:
    label = leases.claim(interrupted(buyer).id, leases.due())
    assert label
    ShippingLabel.objects.filter(id=label.id).update(**meanwhile)
    before = ShippingLabel.objects.values().get()
    leases.back_off(label)
    assert ShippingLabel.objects.values().get() == before


def test_an_answer_counts_from_when_the_carrier_was_asked(
    buyer: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted(buyer, minutes=10)
    buy_control(buyer)
    settings.RECONCILE_WAIT_S = 1200

    def wait(_: object) -> None:
        later = timezone.now() + timedelta(minutes=20)
        monkeypatch.setattr("shops.db.clock.now", lambda: later)

    during(monkeypatch, client("alpha", is_test=False), "find_by_reference", after=wait)
    reconcile()
    assert state(label) == LabelState.UNKNOWN


@pytest.mark.parametrize("margins", [0.75, 100])
def test_a_process_that_was_suspended_too_long_does_not_call_the_carrier(
    margins: float, buyer: Caller, sandbox: Sandbox, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = purchase.reserve

    def suspended(label: ShippingLabel) -> None:
        reserve(label)
        label.leased_until -= timedelta(seconds=margins * settings.LEASE_MARGIN_S)  # as if this time had passed
        label.save(update_fields=["leased_until"])

    monkeypatch.setattr(purchase, "reserve", suspended)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_UNAVAILABLE")
    assert sandbox.calls() == 0
    assert ShippingLabel.objects.get().idempotency_key is None


def test_an_error_with_one_label_does_not_block_the_others(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [interrupted(buyer, state=LabelState.RECEIVED, idempotency_key=key) for key in "12"]
    broken = min(label.id for label in labels)
    store = storage.store

    def storing(label: ShippingLabel, *args: Any) -> None:
        if label.id == broken:
            raise RuntimeError("a bug")
        store(label, *args)

    monkeypatch.setattr(storage, "store", storing)
    reconcile()
    assert sorted(map(state, labels)) == [LabelState.GENERATED, LabelState.RECEIVED]


@pytest.mark.real_services
def test_a_connection_that_is_lost_with_one_label_does_not_block_the_others(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hours_ago = timezone.now() - timedelta(hours=3)
    times: dict[str, Any] = {"leased_until": hours_ago, "cancel_requested_at": hours_ago}
    first = interrupted(buyer, state=LabelState.CANCELLING, idempotency_key="1", **times)
    second = interrupted(buyer, state=LabelState.RECEIVED, idempotency_key="2")
    monkeypatch.setattr(parcels, "handed_in", lambda _: execute("SELECT pg_terminate_backend(pg_backend_pid())"))
    reconcile()
    assert [state(first), state(second)] == [LabelState.CANCEL_UNKNOWN, LabelState.GENERATED]
    assert "label waits for the database" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_key_released_by_the_faster_request_is_answered_with_409(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = interrupted(buyer)
    monkeypatch.setattr(purchase, "find_earlier", lambda *_: None)
    response = post(buyer, order(), key=KEY)
    assert_coded(response, 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
    assert response["Retry-After"] == "2"
    assert state(label) == LabelState.PURCHASING


def test_the_same_key_does_not_finish_a_label_that_was_cancelled_meanwhile(buyer: Caller) -> None:
    stale = interrupted(buyer, state=LabelState.RECEIVED, body_digest="digest")
    ShippingLabel.objects.update(state=LabelState.CANCELLED, pdf=None)
    with pytest.raises(ApiError) as caught:
        purchase.replay(stale, IdempotencyKey(KEY, "digest"))
    assert caught.value.public_code == "LABEL_CANCELLED"


def test_a_label_that_a_retry_finished_and_the_shop_cancelled_is_told_as_cancelled(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request that bought it is answered last."""
    retried = list[int]()

    def retry_and_cancel(*_: Any) -> None:
        retried.append(post(buyer, order(), key=KEY).status_code)
        retried.append(buyer.request("POST", f"{SHIPMENTS}/{row().id}/cancel").status_code)

    during(monkeypatch, storage, "store", before=retry_and_cancel)
    assert_coded(post(buyer, order(), key=KEY), 409, "LABEL_CANCELLED")
    assert retried == [201, 200]
    assert (row().state, len(sandbox.made())) == (LabelState.CANCELLED, 1)


@pytest.mark.parametrize(
    ("carrier", "state", "code"),
    [
        ("alpha", LabelState.FAILED, "ALPHA_UNAVAILABLE"),
        ("alpha", LabelState.UNKNOWN, "ALPHA_OUTCOME_UNKNOWN"),
        ("beta", LabelState.FAILED, "BETA_UNAVAILABLE"),
    ],
)
def test_a_label_that_comes_after_its_order_was_settled_is_cancelled(
    carrier: str, state: LabelState, code: str, buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have found nothing, or are cancelling what they have found; at beta nothing is billed."""
    settled = {"state": state, "cancel_requested_at": timezone.now()}
    late = partial(ShippingLabel.objects.update, **settled)
    during(monkeypatch, client(carrier, is_test=False), "create_label", after=lambda _: late())
    message = assert_coded(post(buyer, order(PRODUCT[carrier]), key=KEY), 502, code)
    assert "its label came after the order had been settled, and is cancelled" in message
    pass_time(600)
    assert reconcile() == {LabelState.FAILED: 1}
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made()] == [carrier == "alpha"]
    pass_time(600)
    assert reconcile() == {}


# Clocks that are off

TWENTY_MINUTES = timedelta(minutes=20)
Skew = Callable[[timedelta], None]


@pytest.fixture
def skew(monkeypatch: pytest.MonkeyPatch) -> Skew:
    """Set this host's clock wrong."""
    right = timezone.now

    def set_wrong(by: timedelta) -> None:
        def wrong() -> datetime:
            return right() + by

        monkeypatch.setattr("time.time", lambda: wrong().timestamp())
        monkeypatch.setattr("django.utils.timezone.now", wrong)

    return set_wrong


def during_the_call(carrier_code: str, do: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Do something between the check of the lease and the carrier's call; return what it returned."""
    seen = list[Any]()
    during(monkeypatch, client(carrier_code, is_test=False), "create_label", before=lambda *_: seen.append(do()))
    return seen


@pytest.mark.real_services
@pytest.mark.parametrize("by", [-TWENTY_MINUTES, TWENTY_MINUTES])
@pytest.mark.parametrize("which", ["that buys", "that reconciles"])
def test_where_a_host_is_off_a_purchase_is_left_to_its_own(
    which: str, by: timedelta, buyer: Caller, sandbox: Sandbox, skew: Skew, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = (by, timedelta()) if which == "that buys" else (timedelta(), by)
    if elsewhere:
        monkeypatch.setattr(clock, "MAX_OFFSET_S", float("inf"))

    def reconcile_on_another_host() -> Any:
        skew(elsewhere)
        return reconcile()

    seen = during_the_call("alpha", reconcile_on_another_host, monkeypatch)
    skew(here)
    assert post(buyer, order(), key=KEY).status_code == 201
    assert (seen, sandbox.questions(), len(sandbox.made())) == ([{}], 0, 1)


@pytest.mark.real_services
def test_a_contract_that_a_host_behind_has_changed_counts_as_changed(
    buyer: Caller, sandbox: Sandbox, skew: Skew
) -> None:
    interrupt(buyer, sandbox, "close")
    skew(-TWENTY_MINUTES)
    mine = buyer.shop.contracts.get(carrier_code="alpha")
    mine.save()
    assert mine.updated_at > row().created_at


def test_the_reconciliation_of_a_host_that_is_off_does_nothing(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    LabelFactory(shop=own.shop, state="received")
    monkeypatch.setattr(clock, "now", lambda: timezone.now() + TWENTY_MINUTES)
    assert reconcile() == {}
    monkeypatch.undo()
    assert reconcile() == {LabelState.GENERATED: 1}


# --- A process that is suspended ---


def suspended(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock that runs through a suspend go on, as after a SIGSTOP or a machine's sleep."""
    boot_time = time.clock_gettime
    monkeypatch.setattr(clock, "latest", clock.latest)  # what is read meanwhile would be ahead of later tests
    monkeypatch.setattr("time.clock_gettime", lambda which: boot_time(which) + seconds)


@pytest.mark.parametrize("carrier_code", PRODUCT)
def test_a_process_suspended_after_the_check_of_its_lease_sends_nothing(
    carrier_code: str, buyer: Caller, sandbox: Sandbox, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_the_call(carrier_code, lambda: suspended(settings.CARRIER_TIMEOUT, monkeypatch), monkeypatch)
    assert_coded(post(buyer, order(PRODUCT[carrier_code]), key=KEY), 502, f"{carrier_code.upper()}_UNAVAILABLE")
    assert (sandbox.calls(), row().state) == (0, LabelState.FAILED)


def stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process stand still past its lease."""
    pass_time()
    later = timezone.now() + timedelta(minutes=2)
    monkeypatch.setattr("shops.db.clock.upper_bound_now", lambda: later)


def adopt_meanwhile(number: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, is_stored: bool) -> None:
    """Let this process stand still past its lease, and a person adopt the second of two parcels, maybe unstored."""
    stand_still(monkeypatch)
    if not is_stored:
        folder.rename(folder.with_name("away"))
        folder.write_text("in the way")
    decisions.adopt(label=row(), tracking_numbers=["", number], pdf=PDF)
    if not is_stored:
        folder.unlink()
        folder.with_name("away").rename(folder)


def when_answered(act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    during(monkeypatch, client("alpha", is_test=False), "create_label", after=lambda _: act())


def when_it_merges(act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    during(monkeypatch, unmerged, "merged", before=lambda _: act())


def before_transition(event: Event, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """The process had its lease when it looked, and has not read what staff decided since."""

    def slowly(label: ShippingLabel, made: Event, **facts: Any) -> bool:
        if made == event:
            monkeypatch.setattr(outcomes, "move", move)
            act()
        return move(label, made, **facts)

    monkeypatch.setattr(outcomes, "move", slowly)


def while_it_stores(is_written: bool, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time to write the PDF began before it saw that it has the lease still."""
    write = LabelFolder.write

    def slowly(own: LabelFolder, name: str, content: bytes) -> None:
        if not name.startswith(storage.ROOT):
            return write(own, name, content)
        monkeypatch.setattr(LabelFolder, "write", write)
        if is_written:
            write(own, name, content)
        suspended(120, monkeypatch)
        act()
        return None if is_written else write(own, name, content)

    monkeypatch.setattr(LabelFolder, "write", slowly)


MOMENTS: dict[str, Callable[[Callable[[], None], pytest.MonkeyPatch], None]] = {
    "answered": when_answered,
    "kept": partial(before_transition, Event.BOUGHT),
    "merging": when_it_merges,
    "writing": partial(while_it_stores, False),
    "written": partial(while_it_stores, True),
    "stored": partial(before_transition, Event.STORED),
}


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_purchase_that_stands_still_changes_nothing_of_an_adoption(
    moment: str, is_stored: bool, buyer: Caller, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shop is told of the parcel that staff adopted, with their PDF, whichever process stores it.

    The other one, which nobody knew, is cancelled.
    """

    def adopt() -> None:
        adopt_meanwhile(sandbox.made()[1].tracking_number, folder, monkeypatch, is_stored=is_stored)

    MOMENTS[moment](adopt, monkeypatch)
    answer = post(buyer, body := order(parcels=weighing(1, 2)), key=KEY)
    if is_stored and moment != "writing":
        assert answer.status_code == 201
    else:
        assert_coded(answer, 500, "LABEL_STORAGE_UNAVAILABLE")
        if moment == "answered":
            reconcile()
        answer = post(buyer, body, key=KEY)
    left_out, adopted = (parcel.tracking_number for parcel in sandbox.made())
    assert (answer.json()["trackingNumber"], answer.json()["weight"]) == (adopted, 2)
    assert fetch(answer.json()["labelUrl"]).content == PDF
    (listed,) = buyer.get(SHIPMENTS).json()["data"]
    assert [(parcel["trackingNumber"], parcel["weight"]) for parcel in listed["parcels"]] == [(adopted, 2)]
    (parcel,) = Parcel.objects.all()
    assert parcel.tracking_numbers == [adopted]
    pass_time()
    reconcile()
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made()] == [True, False]
    assert (row().tracking_numbers, row().cancelled_numbers) == ([adopted], [left_out])


def test_a_failure_after_an_adoption_leaves_no_parcel_that_nobody_knows(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:

    def adopt(purchased: PurchasedLabel) -> None:
        pass_time()
        numbers = purchased.tracking_numbers
        decisions.adopt(label=row(), tracking_numbers=["", numbers[1]], pdf=PDF)
        raise OutcomeUnknown("alpha", made=PurchasedLabel(numbers))

    during(monkeypatch, client("alpha", is_test=False), "create_label", after=adopt)
    assert_coded(post(buyer, order(parcels=weighing(1, 2)), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")
    pass_time()
    reconcile()
    left_out, adopted = sandbox.made()
    assert (sandbox.is_cancelled(left_out), sandbox.is_cancelled(adopted)) == (True, False)
    assert (row().state, row().tracking_numbers) == (LabelState.GENERATED, [adopted.tracking_number])


def test_an_adoption_of_a_label_that_is_stored_meanwhile_is_refused(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_text("in the way")
    assert_coded(post(buyer, order(parcels=weighing(1, 2)), key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    folder.unlink()
    label = row()
    during(monkeypatch, decisions, "claim", after=lambda _: outcomes.publish(row()))
    with pytest.raises(decisions.NotOpenError):
        decisions.adopt(label=label, tracking_numbers=["", label.tracking_numbers[1]], pdf=PDF)
    assert (row().state, row().tracking_numbers) == (LabelState.GENERATED, label.tracking_numbers)


def test_a_label_that_was_decided_since_it_was_read_is_not_stored_as_it_was(own: Caller) -> None:
    read = LabelFactory(shop=own.shop, state=LabelState.RECEIVED)
    ShippingLabel.objects.update(decided_at=timezone.now())
    with pytest.raises(StorageUnavailableError):
        outcomes.publish(read, is_leased=False)
    assert (row().state, storage.read(row().pdf_key)) == (LabelState.RECEIVED, None)


def test_a_replay_at_the_same_time_as_an_adoption_changes_nothing_of_it(
    buyer: Caller, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease that a replay reads is not its own."""
    body = order(parcels=weighing(1, 2))
    folder.write_text("in the way")
    assert_coded(post(buyer, body, key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    folder.unlink()
    ShippingLabel.objects.update(leased_until=lease())

    def adopt(_: bytes) -> None:
        pass_time()
        decisions.adopt(label=row(), tracking_numbers=["", row().tracking_numbers[1]], pdf=PDF)

    during(monkeypatch, unmerged, "merged", before=adopt)
    answer = post(buyer, body, key=KEY)
    assert answer.json()["trackingNumber"] == sandbox.made()[1].tracking_number
    assert fetch(answer.json()["labelUrl"]).content == PDF


def test_replays_do_not_put_off_who_merges_a_label_again(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do they end the lease of a process that asks the carrier for the PDF, or adopts."""
    monkeypatch.setattr(unmerged, "merged", Mock(side_effect=UnreadableError("the labels cannot be merged")))
    body = order(parcels=weighing(1, 2))
    assert_coded(post(buyer, body, key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    ShippingLabel.objects.update(leased_until=lease())
    before = row()
    assert_coded(post(buyer, body, key=KEY), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert (row().leased_until, row().ask_again_at) == (before.leased_until, before.ask_again_at)


def test_an_answer_after_the_lease_writes_a_row_again_that_vanished(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:

    def lose_row(_: object) -> None:
        ShippingLabel.objects.all().delete()
        later = timezone.now() + timedelta(minutes=2)
        monkeypatch.setattr("shops.db.clock.upper_bound_now", lambda: later)

    during(monkeypatch, client("alpha", is_test=False), "create_label", after=lose_row)
    assert post(buyer, order(), key=KEY).json()["id"] == row().id
    assert (row().state, row().idempotency_key) == (LabelState.GENERATED, KEY)


# --- Cancellations ---


@pytest.mark.parametrize("moment", ["it has begun", "it has checked its lease", "a parcel is cancelled"])
def test_a_suspended_cancellation_cancels_nothing_of_a_label_that_staff_kept(
    moment: str, buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They look at the carrier's portal when the lease is over, and keep what is not cancelled there."""
    assert post(buyer, order(parcels=weighing(1, 2)), key=KEY).status_code == 201
    carrier, made = client("alpha", is_test=False), sandbox.made()
    begin, cancel = cancelling.begin, carrier.cancel

    def come_to(reached: str) -> None:
        if reached == moment:
            monkeypatch.setattr(carrier, "cancel", cancel)
            suspended(120, monkeypatch)
            stand_still(monkeypatch)
            gone = [parcel.tracking_number for parcel in made if sandbox.is_cancelled(parcel)]
            decisions.keep(label=row(), cancelled=gone)

    def beginning(label: ShippingLabel) -> ShippingLabel:
        begun = begin(label)
        come_to("it has begun")
        return begun

    def slowly(*args: Any) -> None:
        come_to("it has checked its lease")
        cancel(*args)
        come_to("a parcel is cancelled")

    monkeypatch.setattr(cancelling, "begin", beginning)
    monkeypatch.setattr(carrier, "cancel", slowly)
    answer = buyer.request("POST", f"{SHIPMENTS}/{row().id}/cancel")
    kept = [parcel.tracking_number for parcel in made if not sandbox.is_cancelled(parcel)]
    assert (row().state, row().tracking_numbers) == (LabelState.GENERATED, kept)
    if len(kept) == len(made):
        assert_coded(answer, 502, "ALPHA_UNAVAILABLE")


def test_a_suspended_cancellation_does_not_end_the_next_one(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert post(buyer, order(), key=KEY).status_code == 201

    def keep_and_cancel_again(_: ShippingLabel) -> None:
        stand_still(monkeypatch)
        decisions.keep(label=row())
        cancelling.begin(row())

    during(monkeypatch, cancelling, "begin", after=keep_and_cancel_again)
    answer = buyer.request("POST", f"{SHIPMENTS}/{row().id}/cancel")
    assert (answer.json()["status"], row().state) == ("cancelling", LabelState.CANCELLING)


@pytest.mark.parametrize("moment", ["it begins", "the carrier is asked"])
def test_a_parcel_that_comes_to_light_during_a_cancellation_is_cancelled_too(
    moment: str, buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that bought it may have had to wait for the cancellation."""
    assert post(buyer, order(), key=KEY).status_code == 201
    label = row()
    make_one_more(sandbox, sandbox.made()[0])
    late = Elsewhere(lambda: outcomes.save_late(label, [sandbox.made()[1].tracking_number]))

    def asks(*_: Any) -> None:
        if moment == "the carrier is asked":
            late.begin()
        late.join()

    if moment == "it begins":
        during(monkeypatch, parcels, "handed_in", before=lambda _: late.begin())
    during(monkeypatch, client("alpha", is_test=False), "cancel", before=asks)
    assert cancelling.cancel(label).state == LabelState.CANCELLED
    reconcile()
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made()] == [True, True]


def test_staff_who_end_a_cancellation_see_a_parcel_that_came_to_light_since(buyer: Caller, sandbox: Sandbox) -> None:
    assert post(buyer, order(), key=KEY).status_code == 201
    sandbox.arm("2", count=1, operation=CANCEL)
    cancelling.cancel(row())
    read = row()
    make_one_more(sandbox, sandbox.made()[0])
    outcomes.save_late(read, [sandbox.made()[1].tracking_number])
    decisions.keep(label=read)
    reconcile()
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made()] == [False, True]


def test_a_parcel_that_comes_late_and_cannot_be_cancelled_yet_is_cancelled_within_the_hour(
    buyer: Caller, sandbox: Sandbox
) -> None:
    assert post(buyer, order(), key=KEY).status_code == 201
    make_one_more(sandbox, sandbox.made()[0])
    outcomes.save_late(row(), [sandbox.made()[1].tracking_number])
    sandbox.arm("2", operation=CANCEL, count=1)
    for _ in range(2):
        pass_time(400)
        reconcile()
        assert row().staff_notice == ""
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made()] == [False, True]


def test_a_parcel_that_comes_to_light_during_the_last_question_about_a_failed_order_is_cancelled(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that asks has not seen it, and can't end the matter any more."""
    assert post(buyer, order(), key=KEY).status_code == 201
    made = sandbox.made()
    Parcel.objects.all().delete()
    ShippingLabel.objects.update(
        state=LabelState.FAILED, idempotency_key=None, tracking_numbers=[], reservation_number="", ask_again_at=lease()
    )
    buy_control(buyer)
    pass_time(90_000)
    carrier = client("alpha", is_test=False)

    def finds_nothing_of_it(label_id: str, *_: Any) -> tuple[str, ...]:
        if label_id != row().id:
            return ("XY000000001FR",)
        outcomes.save_late(row(), [parcel.tracking_number for parcel in made])
        return ()

    monkeypatch.setattr(carrier, "find_by_reference", finds_nothing_of_it)
    reconcile()
    pass_time()
    monkeypatch.setattr(carrier, "find_by_reference", lambda *_: ())
    reconcile()
    assert sandbox.is_cancelled(made[0])
