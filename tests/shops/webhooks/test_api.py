"""Webhook endpoints by the API: made, changed, paused, rotated, tested, replayed, listed and deleted by their shop."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from shops.webhooks import endpoints
from shops.webhooks.delivering import deliver_due
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from tests.labels.gates import during
from tests.shops import commands
from tests.shops.webhooks.receivers import Receiver, secret_of, tell_and_deliver, tell_label
from tests.support.api import Caller, assert_error
from tests.support.audit import changes
from tests.support.cases import in_one_test
from tests.support.paths import TRACKING
from tests.support.threads import Elsewhere
from tests.support.waiting import until

WEBHOOKS = f"{TRACKING}/webhooks"


def call(caller: Caller, method: str, path: str, body: Any = None) -> Any:
    content = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    return caller.request(method, path, **content)


def make(caller: Caller, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    response = call(caller, "POST", WEBHOOKS, {"url": receiver.url} | fields)
    assert response.status_code == 201, response.content
    made: dict[str, Any] = response.json()
    assert response.headers["Location"] == f"{WEBHOOKS}/{made['id']}"
    return made


def get(caller: Caller, made: dict[str, Any], path: str = "") -> dict[str, Any]:
    response = caller.get(f"{WEBHOOKS}/{made['id']}{path}")
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    return body


def send(caller: Caller, method: str, made: dict[str, Any], path: str = "", body: Any = None) -> Any:
    return call(caller, method, f"{WEBHOOKS}/{made['id']}{path}", body)


@pytest.mark.any_database
def test_a_new_endpoint_shows_its_secret_once(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver, eventTypes=["label.failed"])
    secret = made.pop("secret")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert secret_of(WebhookEndpoint.objects.get()) == secret
    assert made == {
        "id": WebhookEndpoint.objects.get().id,
        "url": receiver.url,
        "eventTypes": ["label.failed"],
        "status": "active",
        "disabledReason": None,
        "failingSince": None,
        "queued": 0,
        "lastDelivery": None,
        "createdAt": made["createdAt"],
    }
    assert get(own, made) == made
    assert own.get(WEBHOOKS).json() == {"data": [made], "next": None}


def test_each_change_is_on_record_with_what_was_before(own: Caller, receiver: Receiver) -> None:
    made, other = make(own, receiver, eventTypes=["label.failed"]), f"{receiver.url}other"
    send(own, "PATCH", made, body={"url": other, "eventTypes": None, "status": "paused"})
    send(own, "PATCH", made, body={"url": other})
    send(own, "POST", made, "/rotate-secret")
    send(own, "DELETE", made)
    assert [(entry.action, entry.changes, entry.details) for entry in reversed(changes())] == [
        ("added", {"url": [None, receiver.url], "event_types": [None, ["label.failed"]]}, {}),
        (
            "changed",
            {"url": [receiver.url, other], "event_types": [["label.failed"], []], "state": ["active", "paused"]},
            {},
        ),
        ("changed", {}, {}),
        ("changed", {}, {"note": "Secret rotated."}),
        ("removed", {}, {}),
    ]


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_each_is_on_record_as_its_own(
    own: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = make(own, receiver), f"{receiver.url}other"
    pausing = Elsewhere(lambda: send(own, "PATCH", made, body={"status": "paused"}))
    during(monkeypatch, endpoints, "change", before=lambda *_, **__: pausing.begin())
    assert send(own, "PATCH", made, body={"url": other}).status_code == 200
    pausing.join()
    assert (get(own, made)["url"], get(own, made)["status"]) == (other, "paused")
    assert [entry.changes for entry in changes()][:2] == [
        {"state": ["active", "paused"]},
        {"url": [receiver.url, other]},
    ]


@pytest.mark.django_db(transaction=True)
def test_of_two_who_delete_an_endpoint_at_once_one_is_on_record(
    own: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(own, receiver)
    deleting = Elsewhere(lambda: send(own, "DELETE", made))
    during(monkeypatch, endpoints, "revoke", before=lambda _: deleting.begin())
    assert send(own, "DELETE", made).status_code == 204
    deleting.join()
    assert [entry.action for entry in changes()] == ["removed", "added"]


@pytest.mark.any_database
def test_null_and_nothing_are_all_types(own: Caller, receiver: Receiver) -> None:
    assert make(own, receiver)["eventTypes"] is make(own, receiver, eventTypes=None)["eventTypes"] is None


def test_each_type_can_be_asked_for(own: Caller, receiver: Receiver) -> None:
    every = list(EVENT_TYPES)
    assert make(own, receiver, eventTypes=every)["eventTypes"] == every
    out, _ = commands.call("create_webhook", own.shop.id, receiver.url, *(f"--event={name}" for name in every))
    assert own.get(f"{WEBHOOKS}/{out.strip()}").json()["eventTypes"] == every


@pytest.mark.any_database
@in_one_test(
    "body, said",
    [
        ({}, "url: is required."),
        ({"url": "ftp://shop.example/"}, "url: needs https://."),
        ({"url": 5}, "url: must be a string"),
        ({"url": "https://shop.example/", "eventTypes": ["nonsense"]}, "eventTypes[0]: must be one of"),
        ({"url": "https://shop.example/", "eventTypes": []}, "eventTypes: must name a type"),
        ({"url": "shop.example", "eventTypes": []}, "url: needs https://. eventTypes: must name a type"),
        ([], "must be an object"),
    ],
)
def test_a_body_at_fault_makes_nothing_and_is_named(body: Any, said: str, own: Caller) -> None:
    response = call(own, "POST", WEBHOOKS, body)
    assert_error(response, 400)
    assert said in response.json()["message"]
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.any_database
def test_what_is_not_read_is_named_in_a_header_of_errors_too(own: Caller, receiver: Receiver) -> None:
    response = call(own, "POST", WEBHOOKS, {"url": receiver.url, "secret": "x", "é": 1})
    assert response.headers["Ignored-Fields"] == "secret, %C3%A9"
    refused = call(own, "POST", WEBHOOKS, {"uri": receiver.url})
    assert (refused.status_code, refused.headers["Ignored-Fields"]) == (400, "uri")


def test_an_eleventh_endpoint_is_too_many(own: Caller, receiver: Receiver) -> None:
    for _ in range(endpoints.MAX_ENDPOINTS):
        endpoints.create(shop=own.shop, url=receiver.url)
    response = call(own, "POST", WEBHOOKS, {"url": receiver.url})
    assert (response.status_code, response.json()["code"]) == (409, "TOO_MANY_WEBHOOKS")
    first, second = own.get(f"{WEBHOOKS}?limit=6").json(), 4
    page = own.get(WEBHOOKS, query_params={"limit": "6", "cursor": first["next"]}).json()
    assert (len(first["data"]), len(page["data"]), page["next"]) == (6, second, None)


def test_a_list_of_ten_costs_as_many_queries_as_one(own: Caller, receiver: Receiver) -> None:
    def queries() -> int:
        make(own, receiver)
        with CaptureQueriesContext(connection) as captured:
            own.get(WEBHOOKS)
        return len(captured)

    assert len({queries() for _ in range(4)}) == 1


PATHS = [
    ("GET", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("POST", "/rotate-secret"),
    ("POST", "/test"),
    ("POST", "/replay"),
    ("GET", "/deliveries"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_another_shops_a_deleted_and_an_unknown_endpoint_are_one_404(
    method: str, path: str, own: Caller, other: Caller, receiver: Receiver
) -> None:
    others, deleted = make(other, receiver), make(own, receiver)
    assert send(own, "DELETE", deleted).status_code == 204
    bodies = []
    for webhook_id in (others["id"], deleted["id"], "we_a000000000000000", "a%00b"):
        response = call(own, method, f"{WEBHOOKS}/{webhook_id}{path}", {"eventIds": []} if method != "GET" else None)
        assert_error(response, 404)
        bodies.append(response.json() | {"timestamp": ""})
    assert all(body == bodies[0] for body in bodies)
    assert WebhookEndpoint.objects.get(id=others["id"]).revoked_at is None


def test_a_paused_endpoint_keeps_its_events_and_active_sends_them_at_once(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver)
    assert send(own, "PATCH", made, body={"status": "paused"}).json()["status"] == "paused"
    tell_label(own.shop.id)
    now = timezone.now()  # the schedule of an event that waited for others of its parcel may have begun late
    WebhookDelivery.objects.update(created_at=now - timedelta(days=4), due_at=now + timedelta(hours=5))
    assert deliver_due() == 0
    assert get(own, made)["queued"] == 1
    assert send(own, "PATCH", made, body={"status": "active"}).json()["status"] == "active"
    assert deliver_due() == 1
    tell_label(own.shop.id, "waits")  # no delivery yet
    last = get(own, made)["lastDelivery"]
    assert (last["httpStatus"], last["reason"]) == (200, None)


@pytest.mark.django_db(transaction=True)  # an open transaction hides its event when a later one ends
def test_a_disabled_endpoint_is_told_to_the_others_and_active_enables_it(own: Caller, receiver: Receiver) -> None:
    made, watching = make(own, receiver), make(own, receiver)
    for _ in range(2):  # as by two processes, each of which has delivered to it
        endpoints.disable(made["id"], "it answered 410")
    shown = get(own, made)
    assert (shown["status"], shown["disabledReason"]) == ("disabled", "it answered 410")
    assert get(own, watching)["status"] == "active"
    event = WebhookEvent.objects.get()
    assert (event.type, event.data) == ("webhook.disabled", {"endpointId": made["id"], "reason": "it answered 410"})
    assert WebhookDelivery.objects.get().endpoint_id == watching["id"]
    (told,) = until(lambda: own.get(f"{TRACKING}/events").json()["data"])
    assert told["type"] == "webhook.disabled"
    endpoints.disable(watching["id"], "it answered 410")
    assert send(own, "PATCH", made, body={"status": "active"}).json()["status"] == "active"
    assert get(own, watching)["status"] == "disabled"


def test_an_address_and_types_change_and_what_is_left_out_stays(own: Caller, receiver: Receiver) -> None:
    made, left = make(own, receiver, eventTypes=["label.failed"]), get(own, make(own, receiver))
    changed = send(own, "PATCH", made, body={"url": receiver.url + "/new"}).json()
    assert (changed["url"], changed["eventTypes"]) == (receiver.url + "/new", ["label.failed"])
    assert send(own, "PATCH", made, body={"eventTypes": None}).json()["eventTypes"] is None
    assert send(own, "PATCH", made, body={}).json()["url"] == receiver.url + "/new"
    for body in ({"url": "https://user@shop.example/"}, {"status": "disabled"}, {"url": None}):
        assert_error(send(own, "PATCH", made, body=body), 400)
    assert get(own, left) == left


def test_what_failed_is_sent_to_another_address_at_once(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver)
    receiver.status = 404
    assert tell_and_deliver(own.shop.id) == 1
    for body in ({"eventTypes": None}, {"url": receiver.url}):
        assert send(own, "PATCH", made, body=body).json()["status"] == "failing"
        assert deliver_due() == ("url" in body)
    receiver.status = 200
    assert send(own, "PATCH", made, body={"url": receiver.url + "/corrected"}).json()["status"] == "active"
    assert deliver_due() == 1
    assert get(own, made)["queued"] == 0


def test_a_rotated_secret_signs_beside_each_older_one(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver)
    secrets = [made["secret"], *(send(own, "POST", made, "/rotate-secret").json()["secret"] for _ in range(2))]
    assert WebhookEndpoint.objects.get().signing_secrets(timezone.now()) == secrets[::-1]


def test_a_test_is_sent(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver, eventTypes=["label.failed"])
    response = send(own, "POST", made, "/test")
    assert response.status_code == 202
    assert deliver_due() == 1
    assert receiver.received[0].id == response.json()["eventId"]
    assert receiver.received[0].content["type"] == "webhook.test"


def test_a_test_does_not_wait_for_one_that_failed(own: Caller, receiver: Receiver) -> None:
    made, receiver.status = make(own, receiver), 500
    send(own, "POST", made, "/test")
    assert deliver_due() == 1
    receiver.status = 200
    second = send(own, "POST", made, "/test").json()["eventId"]
    deliver_due()
    assert receiver.received[1].id == second


def test_a_replay_sends_again_what_has_ended_and_at_once_what_waits(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver)
    for subject in ("before", "one", "two"):
        tell_label(own.shop.id, subject)
    WebhookDelivery.objects.filter(subject="before").update(created_at=timezone.now() - timedelta(hours=2))
    assert deliver_due() == 3
    since = (timezone.now() - timedelta(hours=1)).isoformat()
    response = send(own, "POST", made, "/replay", {"since": since})
    assert (response.status_code, response.json()) == (202, {"queued": 2})
    assert deliver_due() == 2
    event_id = WebhookEvent.objects.get(subject="before").message_id
    assert send(own, "POST", made, "/replay", {"eventIds": [event_id, "msg_unknown"]}).json() == {"queued": 1}
    receiver.status = 404
    assert deliver_due() == 1
    assert get(own, made)["lastDelivery"]["httpStatus"] == 404
    assert [each.id for each in receiver.received].count(event_id) == 2


@pytest.mark.any_database
def test_a_replay_includes_the_moment_it_begins_at(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver)
    tell_label(own.shop.id, "first")
    since = WebhookDelivery.objects.get().created_at
    assert send(own, "POST", made, "/replay", {"since": since.isoformat()}).json() == {"queued": 1}
    later = (since + timedelta(milliseconds=1)).isoformat()
    assert send(own, "POST", made, "/replay", {"since": later}).json() == {"queued": 0}


@pytest.mark.any_database
@pytest.mark.parametrize("body", [{}, {"since": 5}, {"since": "yesterday"}, {"since": "2026-11-01", "eventIds": ["a"]}])
def test_a_replay_of_nothing_in_particular_is_refused(body: Any, own: Caller, receiver: Receiver) -> None:
    response = send(own, "POST", make(own, receiver), "/replay", body)
    assert_error(response, 400)
    assert "%2B" not in response.json()["message"]  # as the + of an offset is escaped in a query


def test_deliveries_are_listed_newest_first_and_by_state(own: Caller, receiver: Receiver) -> None:
    made = make(own, receiver)
    assert tell_and_deliver(own.shop.id, "first") == 1
    receiver.status = 503
    assert tell_and_deliver(own.shop.id, "second") == 1
    newest, oldest = get(own, made, "/deliveries")["data"]
    row = WebhookDelivery.objects.get(subject="second")
    assert newest == {
        "eventId": row.event_id,
        "type": "label.failed",
        "state": "queued",
        "attempts": 1,
        "lastStatus": 503,
        "lastReason": "http_5xx",
        "lastDurationMs": row.last_duration_ms,
        "lastAttemptAt": newest["lastAttemptAt"],
        "nextAttemptAt": newest["nextAttemptAt"],
    }
    assert (oldest["state"], oldest["lastReason"], oldest["nextAttemptAt"]) == ("delivered", None, None)
    page = get(own, made, "/deliveries?limit=1")
    assert page["data"] == [newest]
    following = own.get(f"{WEBHOOKS}/{made['id']}/deliveries", query_params={"limit": "1", "cursor": page["next"]})
    assert following.json() == {"data": [oldest], "next": None}
    assert get(own, made, "/deliveries?state=dead")["data"] == []
    assert_error(own.get(f"{WEBHOOKS}/{made['id']}/deliveries?state=lost"), 400)


@pytest.mark.any_database
def test_thousands_of_types_or_ids_are_one_fault(own: Caller, receiver: Receiver) -> None:
    many = call(own, "POST", WEBHOOKS, {"url": receiver.url, "eventTypes": [1] * 20_000})
    assert_error(many, 400, "eventTypes: must have at most 100 elements.")
    made = make(own, receiver, eventTypes=["label.failed"] * 100)
    assert made["eventTypes"] == ["label.failed"]
    many = send(own, "POST", made, "/replay", {"eventIds": [""] * 10_000})
    assert_error(many, 400, "eventIds: must have at most 500 elements.")
