"""A shop cancels its own label by the API: done, under way, or with the reason why not."""

import sqlite3
from contextlib import ExitStack, closing
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.client import Service
from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from labels.lifecycle import cancelling, db_retry
from labels.lifecycle.reconciling import reconcile
from labels.models import IN_CANCELLATION, LabelState, ShippingLabel
from parcels.models import Parcel
from shops.contracts import clients, conversation
from shops.contracts.bulkhead import bulkhead
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.models import AccessToken
from shops.staff.audit.models import AuditEntry, Channel
from shops.staff.audit.recording import BACKGROUND_WORK
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.labels.admin.pages import LABELS
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import CANCEL, bought, pass_time
from tests.labels.orders import PRODUCT, order, personal_in, post
from tests.models.interruptions import Killed, die
from tests.support.api import Caller, Response, assert_error, caller, logged_in, without_timestamp
from tests.support.audit import changes
from tests.support.factories import UNTOLD, import_parcel, ms_ago
from tests.support.paths import SHIPMENTS
from tests.support.sql import WAITING, held, value
from tests.support.threads import Threads, in_threads
from tests.support.tracking import record
from tests.support.waiting import until

pytestmark = pytest.mark.any_database

HELD = (
    "The carrier is unavailable: its parcel is held by another process, such as an import. The label stays bought, and "
    "a retry is safe."
)
HIDDEN = [state for state in LabelState if state not in IN_CANCELLATION]
HIDDEN = [state for state in HIDDEN if state not in {LabelState.GENERATED, LabelState.CANCELLED}]


def cancel(caller: Caller, label_id: str, **options: Any) -> Response:
    return caller.request("POST", f"{SHIPMENTS}/{label_id}/cancel", **options)


def assert_answer(response: Response, label: ShippingLabel, status: str) -> None:
    expected = {"id": label.id, "status": status, "trackingNumbers": label.tracking_numbers}
    assert (response.status_code, response.json()) == (200, expected)
    assert {"RateLimit", "X-Request-Id", "Cache-Control"} <= set(response.headers)


def assert_refused(response: Response, status: int, code: str, message: str) -> None:
    assert assert_coded(response, status, code) == message
    assert personal_in(message) == []
    assert (row().state, row().cancel_requested_at) == (LabelState.GENERATED, None)


@pytest.mark.parametrize(("carrier_code", "parcels"), [("alpha", 1), ("alpha", 3), ("beta", 1), ("beta", 2)])
def test_a_cancelled_label_is_gone_and_the_answer_stays_the_same(
    carrier_code: str, parcels: int, buyer: Caller, sandbox: Sandbox
) -> None:
    label = bought(buyer, carrier_code, parcels)
    first = cancel(buyer, label.id)
    assert_answer(first, label, "cancelled")
    calls = sandbox.server.state.counts()
    assert cancel(buyer, label.id).content == first.content
    assert sandbox.server.state.counts() == calls
    assert {sandbox.is_cancelled(parcel) for parcel in sandbox.made()} == {carrier_code == "alpha"}
    assert_error(buyer.get(f"{SHIPMENTS}/{label.id}"), 404)
    assert buyer.get(SHIPMENTS).json()["data"] == []
    assert buyer.look_up(label.tracking_number).status_code == 404


def test_it_is_told_by_webhook_and_recorded_with_the_token(buyer: Caller) -> None:
    endpoint = WebhookEndpoint(shop=buyer.shop, url="https://shop.example/")
    endpoint.set_secret("whsec_" + "A" * 43 + "=")
    endpoint.save()
    label = bought(buyer)
    for _ in range(2):
        cancel(buyer, label.id)
    assert list(WebhookDelivery.objects.order_by("id").values_list("event__type", flat=True)) == [
        "label.generated",
        "label.cancelled",
    ]
    asked, done = AuditEntry.objects.filter(object_id=label.id).order_by("id")
    assert {(entry.actor, entry.channel) for entry in (asked, done)} == {(label.token_id, Channel.API)}
    assert asked.details == {"note": "Asked to cancel."}
    assert done.changes == {"state": ["label_generated", "cancelled"]}


def test_of_two_who_cancel_a_label_at_once_the_first_is_on_record(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label, other = bought(buyer), caller(buyer.shop)
    during(monkeypatch, cancelling, "begin", before=lambda _: cancel(other, label.id))
    assert_answer(cancel(buyer, label.id), label, "cancelled")
    entries = AuditEntry.objects.filter(object_id=label.id)
    assert {entry.actor for entry in entries} == {AccessToken.objects.find(other.token).id}
    assert entries.count() == 2


def test_who_asked_is_on_record_before_the_carrier_is_asked(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is killed while it waits for the carrier, by API, by command and on a page of the staff."""
    staff = logged_in("view_shippinglabel", "change_shippinglabel")
    acts: dict[str, Any] = {
        "api": lambda label_id: cancel(buyer, label_id),
        "command": lambda label_id: call_command("cancel_label", label_id),
        "admin": lambda label_id: staff.post(f"{LABELS}{label_id}/cancel/"),
    }
    monkeypatch.setattr(type(clients.client("alpha", is_test=False)), "cancel", lambda *_: die())
    for channel, act in acts.items():
        label = ShippingLabel.objects.get(id=post(buyer, order(orderId=channel)).json()["id"])
        with pytest.raises(Killed):
            act(label.id)
        (entry,) = changes()[:1]
        assert (entry.object_id, entry.channel, entry.details) == (label.id, channel, {"note": "Asked to cancel."})
        assert entry.actor != BACKGROUND_WORK.name


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data": b"{broken", "content_type": "application/json"},
        {"data": b"a=1", "content_type": "application/x-www-form-urlencoded"},
        {"data": b"x" * 100_000, "content_type": "text/plain"},
    ],
    ids=["none", "broken", "form", "large"],
)
def test_a_body_is_neither_needed_nor_read(options: dict[str, Any], own: Caller) -> None:
    label = LabelFactory(shop=own.shop, state=LabelState.CANCELLED, tracking_numbers=["N1"])
    assert_answer(cancel(own, label.id, **options), label, "cancelled")


@pytest.mark.parametrize("carrier_code", ["alpha", "beta"])
def test_one_that_is_too_old_stays_bought(carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer, carrier_code)
    pass_time(90 * 24 * 3600 + 60)
    calls = sandbox.server.state.counts()
    problem = "The label can't be cancelled: it is older than 90 days, so it was used or is void. It stays bought."
    assert_refused(cancel(buyer, label.id), 409, "LABEL_NOT_CANCELLABLE", problem)
    assert sandbox.server.state.counts() == calls
    pass_time(-120)
    assert_answer(cancel(buyer, label.id), label, "cancelled")
    pass_time(90 * 24 * 3600)
    assert_answer(cancel(buyer, label.id), label, "cancelled")


@pytest.mark.parametrize("state", HIDDEN)
def test_what_cant_be_retrieved_and_is_not_cancelled_is_a_404(state: LabelState, own: Caller) -> None:
    label = LabelFactory(shop=own.shop, state=state)
    answer = cancel(own, label.id)
    assert_error(answer, 404, "There is no label with this id.")
    assert without_timestamp(answer) == without_timestamp(own.get(f"{SHIPMENTS}/{label.id}"))


@pytest.mark.parametrize("state", [LabelState.GENERATED, *IN_CANCELLATION, LabelState.CANCELLED])
def test_another_shops_label_is_one_that_is_missing(state: LabelState, own: Caller, other: Caller) -> None:
    foreign = LabelFactory(shop=other.shop, state=state)
    answers = [cancel(own, label_id) for label_id in (foreign.id, "0000000000ABCDE", "%00", "x" * 5000, "é")]
    assert {without_timestamp(answer) for answer in answers} == {without_timestamp(answers[0])}
    told = [{name: text for name, text in answer.headers.items() if name in {"Allow", "Vary"}} for answer in answers]
    assert told == [{}] * len(told)
    assert_error(answers[0], 404, "There is no label with this id.")
    assert ShippingLabel.objects.get().state == state


@pytest.mark.parametrize("state", IN_CANCELLATION)
def test_one_that_is_being_cancelled_is_answered_as_that(state: LabelState, own: Caller) -> None:
    label = LabelFactory(shop=own.shop, state=state, tracking_numbers=["N1"])
    assert_answer(cancel(own, label.id), label, "cancelling")


@pytest.mark.parametrize(("fault", "facts"), [("unfound", {"delay_s": 7200}), ("close", {}), ("html502", {})])
def test_not_known_yet_and_no_answer_are_under_way_and_settle_themselves(
    fault: str, facts: dict[str, Any], buyer: Caller, sandbox: Sandbox
) -> None:
    label = bought(buyer, parcels=2)
    sandbox.arm(fault, operation=CANCEL, **{"count": 1} | facts)
    for _ in range(2):
        assert_answer(cancel(buyer, label.id), label, "cancelling")
    sandbox.disarm()
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLED: 1}
    assert_answer(cancel(buyer, label.id), label, "cancelled")


def test_what_the_carrier_has_is_refused_with_its_reason(buyer: Caller, sandbox: Sandbox) -> None:
    bought(buyer)
    sandbox.arm("3", operation=CANCEL)
    answer = cancel(buyer, row().id)
    message = assert_coded(answer, 409, "LABEL_NOT_CANCELLABLE")
    assert message.startswith("The label can't be cancelled: The carrier refused the cancellation: ")
    assert message.endswith(". It stays bought.")
    assert "Retry-After" not in answer.headers
    assert buyer.get(f"{SHIPMENTS}/{row().id}").status_code == 200


def test_a_parcel_that_is_reported_on_another_parcel_of_the_shop_is_refused_too(buyer: Caller) -> None:
    """The carrier is asked about the number of each parcel that names it, and one answer comes first."""
    label = bought(buyer, "beta")
    for parcel, at in (("P1", 2), ("P2", 1)):
        facts = {"carrierCode": "beta", "createdAt": ms_ago(at)} | UNTOLD
        import_parcel(buyer.shop, id=parcel, trackingId=label.tracking_number, **facts)
    event = TrackingEvent(label.tracking_number, "PCHCFM", timezone.now(), "Pris en charge", "PARIS", Status.IN_TRANSIT)
    record("P1", [TrackingAnswer(label.tracking_number, is_known=True, events=(event,))], now=timezone.now())
    message = "The label can't be cancelled: the carrier has taken it in charge. It stays bought."
    assert_refused(cancel(buyer, label.id), 409, "LABEL_NOT_CANCELLABLE", message)


@pytest.mark.parametrize("carrier_code", PRODUCT)
def test_a_parcel_that_the_shop_has_reported_as_delivered_is_refused_without_the_carrier(
    carrier_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    """design.md: delivered: cannot be cancelled, at either carrier; the look-up says so."""
    label = bought(buyer, carrier_code)
    calls = sandbox.server.state.counts()
    parcel = import_parcel(buyer.shop, trackingId=label.tracking_number, lastStatus="DELIVERED", createdAt=ms_ago(0))
    assert buyer.look_up(label.tracking_number).json()["lastStatus"] == parcel["lastStatus"]
    message = "The label can't be cancelled: the carrier has taken it in charge. It stays bought."
    assert_refused(cancel(buyer, label.id), 409, "LABEL_NOT_CANCELLABLE", message)
    assert sandbox.server.state.counts() == calls


@pytest.mark.real_services
@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
def test_a_parcel_that_an_import_under_way_says_to_be_delivered_is_not_cancelled(
    *, is_known: bool, buyer: Caller
) -> None:
    label = bought(buyer, "beta")
    facts = {"id": "P1", "trackingId": label.tracking_number, "events": [], "createdAt": ms_ago(0)}
    if is_known:
        import_parcel(buyer.shop, lastStatus=None, **facts)
    with Threads(1) as pool, transaction.atomic():
        import_parcel(buyer.shop, lastStatus="DELIVERED", **facts)
        asked = pool.submit(cancel, buyer, label.id)
        until(lambda: value(WAITING) or asked.done())
        assert asked.done()  # while it waits, it has a thread of all shops
        answer = asked.result()
    assert_refused(answer, 502, "BETA_UNAVAILABLE", HELD)
    message = "The label can't be cancelled: the carrier has taken it in charge. It stays bought."
    assert_refused(cancel(buyer, label.id), 409, "LABEL_NOT_CANCELLABLE", message)
    assert buyer.look_up(label.tracking_number).json()["lastStatus"] == "DELIVERED"


@pytest.mark.real_services
def test_a_label_whose_parcel_an_import_holds_for_long_stays_bought_and_a_retry_is_safe(buyer: Caller) -> None:
    label, staff = bought(buyer), logged_in("view_shippinglabel", "change_shippinglabel")
    selected = {"action": "cancel_selected", "_selected_action": [label.id], "is_confirmed": "yes"}
    with held("SELECT FROM parcels_parcel FOR UPDATE"):
        answer, page = cancel(buyer, label.id), staff.post(LABELS, selected, follow=True)
    problem = "its parcel is held by another process, such as an import"
    assert problem in HELD
    assert f"1 not cancelled ({problem}): {label.id}." in page.text
    assert_refused(answer, 502, "ALPHA_UNAVAILABLE", HELD)
    assert answer["Retry-After"] == "2"
    assert_answer(cancel(buyer, label.id), label, "cancelled")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="there an import holds all rows")
def test_on_sqlite_a_cancellation_while_an_import_runs_is_refused_alike(buyer: Caller) -> None:
    label = bought(buyer)
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as importing:
        importing.execute("BEGIN IMMEDIATE")
        connection.cursor().execute("PRAGMA busy_timeout = 100")
        answer = cancel(buyer, label.id)
    connection.close()
    assert_refused(answer, 502, "ALPHA_UNAVAILABLE", answer.json()["message"])
    assert answer["Retry-After"] == "2"
    assert_answer(cancel(buyer, label.id), label, "cancelled")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="there an import holds all rows")
def test_on_sqlite_one_whose_import_begins_while_the_carrier_is_asked_is_being_cancelled(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought(buyer)
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0)
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.1)
    connection.close()
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as importing:
        client = clients.client("alpha", is_test=False)
        during(monkeypatch, client, "cancel", after=lambda _: importing.execute("BEGIN IMMEDIATE"))
        answer = cancel(buyer, label.id)
    connection.close()
    assert_answer(answer, label, "cancelling")


@pytest.mark.real_services
def test_a_label_whose_parcel_an_import_takes_while_the_carrier_is_asked_is_being_cancelled(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought(buyer)
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0)
    with ExitStack() as stack:
        importing = held("SELECT FROM parcels_parcel FOR UPDATE")
        client = clients.client("alpha", is_test=False)
        during(monkeypatch, client, "cancel", after=lambda _: stack.enter_context(importing))
        answer = cancel(buyer, label.id)
    assert_answer(answer, label, "cancelling")
    assert_answer(cancel(buyer, label.id), label, "cancelling")
    pass_time()
    assert reconcile() == {LabelState.CANCELLED: 1}


@pytest.mark.parametrize("later", [30, 400, None])
def test_a_delivered_parcel_that_is_removed_by_its_age_is_not_cancelled_either(
    later: int | None, buyer: Caller, settings: Settings
) -> None:
    """design.md: delivered, taken in charge: cannot be cancelled, at either carrier. beta is not asked."""
    settings.KEEP_PARCELS_DAYS = 30
    label, now = bought(buyer, "beta"), timezone.now()
    delivered = TrackingEvent(label.tracking_number, "LIVCFM", now, text="", place="", status=Status.DELIVERED)
    record(label.id, [TrackingAnswer(label.tracking_number, is_known=True, events=(delivered,))], now=now)
    assert cancel(buyer, label.id).status_code == 409
    pass_time(31 * 24 * 3600)
    Parcel.objects.update(created_at=ms_ago(31), updated_at=ms_ago(31))
    call_command("apply_retention")
    settings.KEEP_PARCELS_DAYS = later
    problem = "its parcel was removed by its age, and may have been handed in"
    message = f"The label can't be cancelled: {problem}. It stays bought."
    assert_refused(cancel(buyer, label.id), 409, "LABEL_NOT_CANCELLABLE", message)


@pytest.mark.parametrize(
    ("fault", "code", "advice", "pause_s"),
    [
        ("1", "ALPHA_UNAVAILABLE", ", and a retry is safe", "30"),
        ("bulkhead", "ALPHA_UNAVAILABLE", ", and a retry is safe", "2"),
        ("30", "ALPHA_CREDENTIALS_REJECTED", ": have the contract's credentials corrected", None),
    ],
)
def test_a_carrier_that_is_not_reached_or_refuses_the_account_changes_nothing(
    fault: str, code: str, advice: str, pause_s: str | None, buyer: Caller, sandbox: Sandbox, one_at_a_time: None
) -> None:
    bought(buyer)
    with ExitStack() as others:
        if fault == "bulkhead":
            others.enter_context(bulkhead.enter("alpha", Service.CANCELLATION))
        else:
            sandbox.arm(fault, operation=CANCEL, count=1)
        answer = cancel(buyer, row().id)
    message: str = answer.json()["message"]
    assert_refused(answer, 502, code, message)
    assert message.endswith(f". The label stays bought{advice}.")
    assert answer.get("Retry-After") == pause_s
    assert_answer(cancel(buyer, row().id), row(), "cancelled")


def test_an_open_circuit_breaker_is_a_carrier_that_is_not_reached(buyer: Caller) -> None:
    bought(buyer)
    clients.client("alpha", is_test=False).circuit_breakers[Service.CANCELLATION]._open("")
    answer = cancel(buyer, row().id)
    message = assert_coded(answer, 502, "ALPHA_UNAVAILABLE")
    assert message.endswith(". The label stays bought, and a retry is safe.")
    assert_refused(answer, 502, "ALPHA_UNAVAILABLE", message)
    assert answer["Retry-After"] == "30"


def unreadable(*_: object) -> None:
    raise UnreadableSecretError


def test_no_setting_and_no_account_number_is_told(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    bought(buyer)
    with monkeypatch.context() as patched:
        patched.setattr(conversation, "credentials_for", unreadable)
        answer = cancel(buyer, row().id)
        assert "CREDENTIALS_KEYS" not in assert_coded(answer, 502, "ALPHA_CREDENTIALS_REJECTED")
    CarrierContract.objects.filter(carrier_code="alpha").update(account_number="19869599")
    message = "The label can't be cancelled: the account that it was bought on is not kept any more. It stays bought."
    assert_refused(cancel(buyer, row().id), 409, "LABEL_NOT_CANCELLABLE", message)
    CarrierContract.objects.all().delete()
    message = (
        "The label can't be cancelled: the shop has no alpha contract any more, so the carrier can't be asked."
        " It stays bought."
    )
    assert_refused(cancel(buyer, row().id), 409, "LABEL_NOT_CANCELLABLE", message)


def test_of_many_requests_at_once_one_asks_the_carrier(buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer, parcels=2)
    before = sandbox.questions()
    answers = in_threads(6, lambda _: cancel(buyer, label.id))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["status"] for answer in answers} <= {"cancelled", "cancelling"}
    assert sandbox.questions() - before == 2
    assert_answer(cancel(buyer, label.id), label, "cancelled")
