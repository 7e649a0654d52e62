"""Deliveries: signed requests within a deadline, retried on a schedule, in order, with dead letters at the end."""

import http.client
import logging
import re
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from carriers.http.connections import Deadline
from config.retention import apply_retention
from shops.models import Shop
from shops.webhooks import claims, delivering, endpoints, retries
from shops.webhooks.delivering import deliver_due, record
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from shops.webhooks.sending import Outcome
from tests.carriers.support.broken_answers import FLOODS
from tests.carriers.support.servers import LoopbackServer, dripping, once, silent
from tests.labels.gates import during
from tests.shops.webhooks.receivers import ANSWER, Receiver, make_due, secret_of, tell_and_deliver, tell_label
from tests.support.certificates import self_signed, server_context
from tests.support.factories import ShopFactory
from tests.support.threads import Elsewhere, Threads
from tests.support.waiting import WAIT_TIMEOUT_S


def row(**conditions: Any) -> WebhookDelivery:
    return WebhookDelivery.objects.get(**conditions)


def attempt(endpoint: WebhookEndpoint, receiver: Receiver, status: int, subject: str = "label-1", **data: str) -> int:
    """Tell of a label, and deliver what is due to a receiver that answers so."""
    receiver.status = status
    return tell_and_deliver(endpoint.shop_id, subject, **data)


def fail(times: int) -> None:
    for _ in range(times):
        make_due()
        assert deliver_due() == 1


def delivered_to(shop: Shop, play: Any, path: str = "", **options: Any) -> WebhookDelivery:
    """Deliver an event to a server that plays something; return the delivery."""
    with LoopbackServer(play, **options) as server:
        endpoints.create(shop=shop, url=server.url + path)
        tell_and_deliver(shop.id)
    return row()


def state_of(endpoint: WebhookEndpoint) -> str:
    endpoint.refresh_from_db()
    return endpoint.state


@pytest.fixture
def short_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "DEADLINE_S", 0.4)


def test_a_delivery_is_a_signed_post_with_type_time_and_data(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    assert tell_and_deliver(endpoint.shop_id) == 1
    (received,) = receiver.received
    assert received.headers["content-type"] == "application/json"
    assert received.headers["user-agent"].startswith("parcel-service-webhooks/")
    assert re.fullmatch(r"v1,[A-Za-z0-9+/]{43}=", received.headers["webhook-signature"])
    assert abs(int(received.headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    assert list(received.content) == ["type", "timestamp", "data"]
    assert received.content["type"] == "label.failed"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", received.content["timestamp"])
    assert received.data["id"] == "label-1"
    made = row()
    assert (made.state, made.attempts, made.last_status, made.last_reason) == ("delivered", 1, 200, "")
    assert received.id == made.event_id
    assert made.leased_until is None
    assert deliver_due() == 0


@pytest.mark.any_database
@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_success(status: int, endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    receiver.answer = b"" if status == 204 else ANSWER
    attempt(endpoint, receiver, status)
    assert row().state == "delivered"


@pytest.mark.any_database
@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 503])
def test_any_other_status_is_tried_again_and_no_redirect_is_followed(
    status: int, endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    receiver.extra_headers = {"Location": receiver.url + "/elsewhere", "Retry-After": "0"}
    attempt(endpoint, receiver, status)
    made = row()
    assert (made.state, made.attempts, made.last_status) == ("queued", 1, status)
    assert made.last_reason == f"http_{status // 100}xx"
    assert len(receiver.received) == 1


def test_nothing_of_an_answer_is_kept_but_its_status(
    endpoint: WebhookEndpoint, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        attempt(endpoint, receiver, 500)
    assert ANSWER.decode() not in str(WebhookDelivery.objects.values().get())
    (record,) = [each for each in caplog.records if each.name.startswith("webhooks")]
    assert ANSWER.decode() not in str(vars(record))
    assert receiver.url not in str(vars(record))


def test_headers_that_can_not_be_read_are_in_no_log_line_and_neither_is_the_address(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    play = once(b"HTTP/1.1 200 OK\r\nX-\xc3\xa9: jo@example.com\r\n\r\n")
    assert delivered_to(shop, play, "/hook?key=of-the-shop").state == "delivered"
    lines = [str(vars(each) | {"message": each.getMessage()}) for each in caplog.records]
    assert not [each for each in lines if "jo@example" in each or "of-the-shop" in each]


def test_an_attempt_is_repeated_with_the_same_id_and_body_and_a_signature_of_its_own(
    endpoint: WebhookEndpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt(endpoint, receiver, 500)
    receiver.status = 200
    make_due()
    later = timezone.now() + timedelta(seconds=5)
    monkeypatch.setattr("shops.db.clock.upper_bound_now", lambda: later)
    deliver_due()
    first, second = receiver.received
    assert (first.id, first.body) == (second.id, second.body)
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]


def test_the_pauses_are_those_of_the_contract_with_jitter_that_only_adds() -> None:
    hours = [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]
    for attempts, pause_h in enumerate(hours, 1):
        for _ in range(100):
            pause = retries.pause_after(attempts)
            assert pause is not None
            assert pause_h <= pause / timedelta(hours=1) <= pause_h * 1.1
    assert retries.pause_after(len(hours) + 1) is None
    assert 75 < sum(hours) < 76


def test_a_pace_compresses_the_pauses(settings: Any) -> None:
    settings.WEBHOOK_PACE = 3600
    pause = retries.pause_after(9)
    assert pause is not None
    assert pause < timedelta(seconds=27)


def test_after_the_last_attempt_it_is_a_dead_letter_and_the_next_event_follows(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    receiver.status = 500
    tell_label(endpoint.shop_id, code="FIRST")
    fail(retries.MAX_ATTEMPTS)
    assert (row().state, row().attempts, row().leased_until) == ("dead", 10, None)
    attempt(endpoint, receiver, 200, code="SECOND")
    assert receiver.received[-1].data["code"] == "SECOND"


def test_events_of_one_subject_wait_for_the_first_and_others_do_not(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    for code in ("1", "2"):
        tell_label(endpoint.shop_id, "slow", code=code)
    attempt(endpoint, receiver, 500, "slow", code="3")
    attempt(endpoint, receiver, 200, "other")
    assert [(each.data["id"], each.data["code"]) for each in receiver.received][1:] == [("other", "ALPHA_UNAVAILABLE")]
    WebhookDelivery.objects.filter(event__data__contains='"1"').update(due_at=timezone.now())
    deliver_due()
    assert [each.data["code"] for each in receiver.received][2:] == ["1", "2", "3"]


def test_rows_behind_a_failed_one_are_put_off_until_it_is_due_so_that_they_cost_nothing(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    receiver.status = 500
    for code in range(5):
        tell_label(endpoint.shop_id, code=str(code))
    deliver_due()
    deliver_due()
    assert len(receiver.received) == 1
    first = WebhookDelivery.objects.order_by("id")[0]
    assert set(WebhookDelivery.objects.values_list("due_at", flat=True)) == {first.due_at}


def test_a_pause_is_not_cut_short_by_what_else_is_tried(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    for status in (200, 500):
        attempt(endpoint, receiver, status, "one")
    waiting = row(state="queued")
    attempt(endpoint, receiver, 500, "other")
    assert row(id=waiting.id).due_at == waiting.due_at


@pytest.mark.any_database
@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_before_the_end_of_a_receivers_head_is_a_failure_and_one_behind_it_is_cut_off(
    flood: str, shop: Shop
) -> None:
    made = delivered_to(shop, FLOODS[flood])
    end = ("delivered", "") if flood.startswith("the chunks") else ("queued", "answer_too_large")
    if flood == "it says wait without end" and hasattr(http.client, "_MAXINTERIMRESPONSES"):  # newer Pythons count them
        end = ("queued", "connection_broken")
    assert (made.state, made.last_reason) == end
    assert (made.last_duration_ms or 0) < 1000 * claims.DEADLINE_S / 2


def test_a_connection_is_used_again_for_the_next_delivery(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    for code in ("1", "2", "3"):
        tell_label(endpoint.shop_id, code=code)
    deliver_due()
    assert len(receiver.received) == 3
    assert receiver.connections == 1


@pytest.mark.any_database
@pytest.mark.usefixtures("short_deadline")
@pytest.mark.parametrize(
    "play", [silent, dripping(b"HTTP/1.1 200 OK\r\n", [b"X-A: b\r\n"] * 1000), dripping(b"", [b"H"] * 1000)]
)
def test_a_receiver_that_is_silent_or_drips_is_left_at_the_deadline(play: Any, shop: Shop) -> None:
    made = delivered_to(shop, play)
    assert (made.state, made.last_reason, made.last_status) == ("queued", "timeout", None)
    assert 300 < (made.last_duration_ms or 0) < 30_000


CHUNKED_OK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = CHUNKED_OK + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 40
# What a receiver answers, and the state, the reason and the status that are kept.
ENDS: dict[str, tuple[bytes, tuple[str, str, int | None]]] = {
    "nothing": (b"", ("queued", "connection_broken", None)),
    "nonsense": (b"nonsense\r\n\r\n", ("queued", "connection_broken", None)),
    "a status of six digits": (b"HTTP/1.1 999999 OK\r\n\r\n", ("queued", "connection_broken", None)),
    **{
        f"{status}, which ends no exchange": (
            b"HTTP/1.1 %d OK\r\n\r\n" % status,
            ("queued", "connection_broken", status),
        )
        for status in (101, 600, 999)
    },
    "an answer without an end, which is cut off": (ENDLESS, ("delivered", "", 200)),
    "a success whose body breaks off": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", ("delivered", "", 200)),
    "a success with a chunk of -5 bytes": (CHUNKED_OK + b"-5\r\nhello\r\n0\r\n\r\n", ("delivered", "", 200)),
}


@pytest.mark.any_database
@pytest.mark.parametrize("answer", ENDS)
def test_an_answer_outside_of_the_protocol_is_tried_again_with_a_reason_of_the_guide(answer: str, shop: Shop) -> None:
    content, end = ENDS[answer]
    made = delivered_to(shop, once(content))
    assert (made.state, made.last_reason, made.last_status) == end


def test_outcomes_that_are_written_down_together_keep_their_own_figures(shop: Shop, receiver: Receiver) -> None:
    made = [endpoints.create(shop=ShopFactory(), url=receiver.url)[0] for _ in range(4)]
    for each in made:
        tell_label(each.shop_id)
    statuses = [200, 204, 500, None]
    claimed = sorted(claims.claim(10), key=lambda each: made.index(each.endpoint))
    reasons = ["", "", "http_5xx", "timeout"]
    parts = zip(claimed, statuses, reasons, strict=True)
    record([Outcome(each, status, reason, number) for number, (each, status, reason) in enumerate(parts)])
    rows = [row(endpoint=each) for each in made]
    assert [each.state for each in rows] == ["delivered", "delivered", "queued", "queued"]
    assert [each.last_status for each in rows] == statuses
    assert [each.last_reason for each in rows] == reasons
    assert [each.last_duration_ms for each in rows] == [0, 1000, 2000, 3000]
    assert [WebhookEndpoint.objects.get(id=each.id).state for each in made] == [*["active"] * 2, *["failing"] * 2]


def test_an_endpoint_that_succeeds_and_fails_at_once_is_not_failing(endpoint: WebhookEndpoint) -> None:
    for subject in ("one", "two"):
        tell_label(endpoint.shop_id, subject)
    first, second = claims.claim(10)
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=6))
    record([Outcome(first, 200, "", 0.1), Outcome(second, 500, "http_5xx", 0.1)])
    assert state_of(endpoint) == "active"


def test_a_receiver_that_does_not_listen_is_tried_again(shop: Shop) -> None:
    with LoopbackServer(silent) as server:
        url = server.url
    endpoints.create(shop=shop, url=url)
    tell_and_deliver(shop.id)
    assert (row().state, row().last_reason) == ("queued", "not_connected")


def test_a_certificate_that_no_authority_signed_is_refused(shop: Shop, tmp_path: Path) -> None:
    context = server_context(self_signed(tmp_path / "receiver.pem"))
    with LoopbackServer(once(b"HTTP/1.1 200 OK\r\n\r\n"), tls=context) as server:
        endpoints.create(shop=shop, url=server.url)
        tell_and_deliver(shop.id)
        assert server.requests == []
    assert (row().state, row().last_reason) == ("queued", "tls")


def test_no_proxy_of_the_environment_is_used(
    endpoint: WebhookEndpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    tell_and_deliver(endpoint.shop_id)
    assert len(receiver.received) == 1


def test_410_disables_the_endpoint_at_once_and_its_events_are_kept(
    endpoint: WebhookEndpoint, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    attempt(endpoint, receiver, 410, "first")
    assert (state_of(endpoint), endpoint.disabled_reason) == ("disabled", "it answered 410")
    assert "webhook endpoint disabled" in caplog.messages
    tell_label(endpoint.shop_id, "second")
    make_due()
    assert deliver_due() == 0
    receiver.status = 200
    endpoints.enable(endpoint)
    assert deliver_due() == 2
    assert state_of(endpoint) == "active"


def test_five_days_of_nothing_but_failures_disable_an_endpoint_and_a_success_between_does_not(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    attempt(endpoint, receiver, 500, "first")
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=5, hours=1))
    attempt(endpoint, receiver, 200, "second")
    receiver.status = 500
    fail(1)
    assert state_of(endpoint) == "failing"
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=5, hours=1))
    fail(1)
    assert (state_of(endpoint), endpoint.disabled_reason) == ("disabled", "nothing but failures for 5 days")


@pytest.mark.parametrize(("status", "reason"), [(410, "http_4xx"), (None, "not_connected")])
def test_an_attempt_at_a_url_that_was_replaced_meanwhile_tells_nothing_of_the_endpoint(
    status: int | None, reason: str, endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    tell_label(endpoint.shop_id)
    [begun] = claims.claim(1)
    endpoints.change(endpoint, url=f"{receiver.url}/new")
    record([Outcome(begun, status, reason, 0.1)])
    assert state_of(endpoint) == "active"
    assert deliver_due() == 1
    assert row().state == DeliveryState.DELIVERED


def test_the_last_attempt_at_a_url_that_was_replaced_meanwhile_is_repeated_too(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    tell_label(endpoint.shop_id)
    WebhookDelivery.objects.update(attempts=retries.MAX_ATTEMPTS - 1)
    [begun] = claims.claim(1)
    endpoints.change(endpoint, url=f"{receiver.url}/new")
    record([Outcome(begun, 500, "http_5xx", 0.1)])
    assert deliver_due() == 1
    assert row().state == DeliveryState.DELIVERED


def test_a_replay_of_an_earlier_event_uses_up_no_attempt_of_the_next_one(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    for status in (200, 500):
        attempt(endpoint, receiver, status)
    for _ in range(retries.MAX_ATTEMPTS):
        WebhookDelivery.objects.filter(state="delivered").replay()
        for status, reason in ((200, ""), (500, "http_5xx")):
            record([Outcome(each, status, reason, 0.1) for each in claims.claim(1)])
    assert row(state="queued").attempts <= 2


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_an_endpoint_whose_url_is_replaced_while_a_410_is_written_down_is_not_disabled(
    endpoint: WebhookEndpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change enables it."""
    tell_label(endpoint.shop_id)
    [begun] = claims.claim(1)
    changing = Elsewhere(lambda: endpoints.change(endpoint, url=f"{receiver.url}/new", status="active"))
    during(monkeypatch, delivering, "record_health", before=lambda *_: changing.begin())
    record([Outcome(begun, 410, "http_4xx", 0.1)])
    changing.join()
    assert state_of(endpoint) == "active"
    assert deliver_due() == 1
    assert row().state == DeliveryState.DELIVERED


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (WebhookEndpoint, {"is_paused": True}),
        (WebhookEndpoint, {"revoked_at": Now()}),
        (WebhookEndpoint, {"disabled_at": Now()}),
        (Shop, {"is_active": False}),
    ],
)
def test_an_endpoint_or_a_shop_that_is_not_active_gets_nothing(
    model: Any, change: dict[str, Any], endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    tell_label(endpoint.shop_id)
    model.objects.update(**change)
    assert deliver_due() == 0
    assert receiver.connections == 0


def test_after_a_revocation_nothing_is_delivered_and_nothing_comes_back(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    tell_label(endpoint.shop_id)
    assert endpoints.revoke(endpoint)
    assert not endpoints.revoke(endpoint)
    assert (row().state, row().last_reason) == ("dead", "revoked")
    assert WebhookDelivery.objects.all().replay() == 0
    assert deliver_due() == 0
    assert receiver.connections == 0


@pytest.mark.real_services
def test_what_a_transaction_queues_for_an_endpoint_that_is_revoked_meanwhile_ends_too(
    transactional_db: None, endpoint: WebhookEndpoint
) -> None:
    with transaction.atomic(), Threads(1) as pool:
        tell_label(endpoint.shop_id)
        assert pool.submit(endpoints.revoke, endpoint).result(WAIT_TIMEOUT_S)
    assert deliver_due() == 0
    list(apply_retention())
    assert (row().state, row().last_reason) == ("dead", "revoked")


def test_what_a_deactivated_shop_has_coming_waits_until_it_is_active_again(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    Shop.objects.update(is_active=False)
    tell_label(endpoint.shop_id)
    assert (deliver_due(), receiver.connections) == (0, 0)
    Shop.objects.update(is_active=True)
    assert deliver_due() == 1
    assert row().state == "delivered"


def test_a_secret_that_no_key_opens_is_a_failure_of_its_own(
    endpoint: WebhookEndpoint, receiver: Receiver, settings: Any
) -> None:
    settings.CREDENTIALS_KEYS = ["MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="]
    tell_and_deliver(endpoint.shop_id)
    assert (row().state, row().last_reason) == ("queued", "secret_unreadable")
    assert receiver.connections == 0
    assert state_of(endpoint) == "active"
    secrets = [endpoints.rotate(endpoint) for _ in range(2)]
    make_due()
    deliver_due()
    assert row().state == "delivered"
    assert WebhookEndpoint.objects.get().signing_secrets(timezone.now()) == secrets[::-1]


@pytest.mark.parametrize("began", ["active", "failing"])
def test_a_process_without_the_secrets_key_uses_up_no_attempt_and_disables_no_endpoint(
    began: str, endpoint: WebhookEndpoint, receiver: Receiver, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    tell_label(endpoint.shop_id)
    if began == "failing":
        WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=6))
    with_key, settings.CREDENTIALS_KEYS = settings.CREDENTIALS_KEYS, ["MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="]
    fail(retries.MAX_ATTEMPTS + 1)
    assert (row().state, row().attempts, state_of(endpoint)) == ("queued", 0, began)
    assert timedelta(0) < row().due_at - timezone.now() <= timedelta(minutes=1)
    assert ("ERROR", "secret_unreadable") in [(each.levelname, getattr(each, "reason", "")) for each in caplog.records]
    settings.CREDENTIALS_KEYS = with_key
    make_due()
    deliver_due()
    assert (row().state, row().attempts, state_of(endpoint)) == ("delivered", 1, "active")


def test_a_replay_has_the_same_message_id_and_all_its_attempts(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    tell_label(endpoint.shop_id, "before")
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(hours=2))
    for code in ("1", "2"):
        tell_label(endpoint.shop_id, "after", code=code)
    deliver_due()
    sent = {each.id: each.body for each in receiver.received}
    receiver.received.clear()
    for _ in range(2):  # what is queued already is only due at once
        assert endpoint.deliveries.filter(created_at__gte=timezone.now() - timedelta(hours=1)).replay() == 2
    deliver_due()
    assert [each.data["code"] for each in receiver.received] == ["1", "2"]
    assert all(sent[each.id] == each.body for each in receiver.received)
    assert {each.attempts for each in WebhookDelivery.objects.all()} == {1}


def refused_for_long(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    receiver.status = 500
    tell_label(endpoint.shop_id, "waiting")
    fail(8)


def test_an_endpoint_that_works_again_gets_what_waits_at_once(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    refused_for_long(endpoint, receiver)
    waiting = WebhookDelivery.objects.filter(subject="waiting")
    waiting.update(last_attempt_at=timezone.now() - timedelta(hours=1))
    assert attempt(endpoint, receiver, 200, "other") == 2
    assert waiting.get().state == "delivered"


def test_an_event_that_alone_is_refused_is_tried_once_a_minute_at_most_and_for_the_whole_schedule(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    refused_for_long(endpoint, receiver)
    assert attempt(endpoint, receiver, 200, "other") == 1
    refused = row(subject="waiting")
    wait = refused.due_at - timezone.now()
    assert timedelta(seconds=50) < wait <= timedelta(seconds=60)
    assert refused.attempts == 7  # the attempt that was brought forward takes none of the schedule


def test_a_disabled_endpoint_gets_all_that_was_kept_when_it_is_enabled(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    refused_for_long(endpoint, receiver)
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(days=4))
    endpoints.disable(endpoint.id, "a test")
    receiver.status = 200
    assert deliver_due() == 0
    endpoints.enable(endpoint)
    assert deliver_due() == 1
    assert row().state == "delivered"


def test_two_failures_with_nothing_to_deliver_between_are_no_five_days_of_failures(
    endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    receiver.status = 500
    tell_label(endpoint.shop_id, "first")
    fail(retries.MAX_ATTEMPTS)
    long_ago = timezone.now() - timedelta(days=6)
    WebhookEndpoint.objects.update(failing_since=long_ago, served_at=long_ago)
    assert attempt(endpoint, receiver, 500, "second") == 1
    assert state_of(endpoint) == "failing"


def test_each_secret_signs_until_its_own_day_is_over(endpoint: WebhookEndpoint) -> None:
    first, second, third = secret_of(endpoint), endpoints.rotate(endpoint), endpoints.rotate(endpoint)
    endpoint.refresh_from_db()
    now = timezone.now()
    assert endpoint.signing_secrets(now) == [third, second, first]
    assert endpoint.signing_secrets(now + timedelta(hours=25)) == [third]
    endpoint.previous_until = now - timedelta(seconds=1)
    assert endpoint.signing_secrets(now) == [third, first]


def test_outcomes_are_written_down_when_the_database_is_back(
    endpoint: WebhookEndpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([OperationalError("away"), OperationalError("away"), None])

    def record_or_fail(outcomes: Any) -> None:
        if outcomes and (error := next(answers)):
            raise error
        record(outcomes)

    monkeypatch.setattr(delivering, "record", record_or_fail)
    monkeypatch.setattr(delivering, "POLL_S", 0.0)  # so that there are rounds with nothing to write down
    monkeypatch.setattr("shops.webhooks.delivering.connection.close", lambda: None)  # the test's transaction is on it
    assert tell_and_deliver(endpoint.shop_id) == 1
    assert row().state == "delivered"
    assert len(receiver.received) == 1


def test_a_database_that_goes_away_while_attempts_run_forgets_no_outcome(
    endpoint: WebhookEndpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = iter([None, OperationalError("away"), OperationalError("away")])

    def claim_or_fail(*args: Any, **options: Any) -> list[claims.Claim]:
        if error := next(errors, None):
            raise error
        return claims.claim(*args, **options)

    monkeypatch.setattr(delivering, "claim", claim_or_fail)
    monkeypatch.setattr(delivering, "POLL_S", 0.0)  # so that it claims while the attempt is under way
    monkeypatch.setattr("shops.webhooks.delivering.connection.close", lambda: None)  # the test's transaction is on it
    tell_label(endpoint.shop_id)
    with suppress(OperationalError):  # once nothing is under way, the task waits for the database
        deliver_due()
    assert row().state == "delivered"
    assert len(receiver.received) == 1


def test_events_and_signatures_take_their_time_from_the_database(
    endpoint: WebhookEndpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = timezone.now() + timedelta(minutes=10)
    monkeypatch.setattr("time.time", ahead.timestamp)
    assert tell_and_deliver(endpoint.shop_id) == 1
    assert int(receiver.received[0].headers["webhook-timestamp"]) < ahead.timestamp() - 500


def test_a_slow_endpoint_is_served_where_there_is_one_place(
    endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shops.webhooks.delivering.CONCURRENCY", 1)
    WebhookEndpoint.objects.update(is_slow=True)
    assert tell_and_deliver(endpoint.shop_id) == 1


def test_told_to_stop_it_begins_nothing(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    tell_label(endpoint.shop_id)
    assert deliver_due(is_stopping=lambda: True) == 0
    assert receiver.connections == 0
    assert row().state == DeliveryState.QUEUED


def test_a_test_goes_to_its_endpoint_alone(shop: Shop, endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    only, _ = endpoints.create(shop=shop, url=receiver.url, event_types=["label.generated"])
    endpoints.create(shop=ShopFactory(), url=receiver.url)
    endpoints.send_test(only)
    assert deliver_due() == 1
    assert receiver.received[0].content["type"] == "webhook.test"
    assert receiver.received[0].data == {"endpointId": only.id}


def test_a_deadline_runs_from_the_claim(endpoint: WebhookEndpoint) -> None:
    tell_label(endpoint.shop_id)
    (claimed,) = claims.claim(1)
    assert isinstance(claimed.deadline, Deadline)
    assert 0 < claimed.deadline.remaining_s() <= claims.DEADLINE_S
    assert claimed.leased_until - claimed.claimed_at > timedelta(seconds=claims.DEADLINE_S)
