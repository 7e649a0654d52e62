"""The admin's pages of webhook endpoints and deliveries, as a browser sees them."""

from concurrent.futures import wait
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from shops.models import Shop
from shops.staff import days
from shops.staff.audit.models import AuditEntry
from shops.staff.pages import page_of
from shops.webhooks import endpoints
from shops.webhooks.delivering import deliver_due
from shops.webhooks.endpoints import MAX_ENDPOINTS
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.shops.webhooks.receivers import Receiver, secret_of, tell_and_deliver, tell_label
from tests.support import desk
from tests.support.api import logged_in, query_count
from tests.support.audit import changes, note
from tests.support.desk import FRENCH
from tests.support.factories import ShopFactory
from tests.support.threads import Threads
from tests.support.waiting import WAIT_TIMEOUT_S

PERMISSIONS = ("add_webhookendpoint", "change_webhookendpoint", "change_webhookdelivery")
ENDPOINTS = "/admin/shops/webhookendpoint/"
DELIVERIES = "/admin/shops/webhookdelivery/"


def act(staff: Client, action: str, *chosen: WebhookEndpoint | WebhookDelivery, **fields: str) -> str:
    return desk.act(staff, action, *chosen, **fields).text


def test_a_new_endpoint_shows_its_secret_in_the_answer_that_makes_it_and_nowhere_else(
    staff: Client, shop: Shop, receiver: Receiver
) -> None:
    answer = staff.post(f"{ENDPOINTS}add/", {"shop": shop.id, "url": receiver.url, "event_types": ["label.failed"]})
    made = WebhookEndpoint.objects.get()
    assert secret_of(made) in answer.text
    assert "no-store" in answer.headers["Cache-Control"]
    assert made.event_types == ["label.failed"]
    for path in (ENDPOINTS, f"{ENDPOINTS}{made.id}/change/", f"{ENDPOINTS}{made.id}/history/", "/admin/"):
        page = staff.get(path)
        assert page.status_code == 200
        assert secret_of(made) not in page.text
        assert made.encrypted_secrets not in page.text
    assert secret_of(made) not in str(list(AuditEntry.objects.values()))
    assert staff.get(ENDPOINTS, {"encrypted_secrets__startswith": "g"}).status_code == 400


@pytest.mark.parametrize("url", ["ftp://shop.example/", "https://user@shop.example/", "https://127.1/", "nonsense"])
def test_a_bad_url_makes_nothing_and_says_why(url: str, staff: Client, shop: Shop) -> None:
    page = staff.post(f"{ENDPOINTS}add/", {"shop": shop.id, "url": url}).text
    assert any(words in page for words in ("Needs https", "user name", "Needs a host name"))
    assert not WebhookEndpoint.objects.exists()


def test_a_shop_with_all_its_endpoints_gets_no_more(staff: Client, shop: Shop, receiver: Receiver) -> None:
    for _ in range(MAX_ENDPOINTS):
        endpoints.create(shop=shop, url=receiver.url)
    page = staff.post(f"{ENDPOINTS}add/", {"shop": shop.id, "url": receiver.url}).text
    assert "A shop has at most 10 endpoints: revoke one first." in page
    assert WebhookEndpoint.objects.count() == MAX_ENDPOINTS


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_two_who_make_the_last_endpoint_at_once_make_one_and_the_other_is_told(receiver: Receiver) -> None:
    shop = ShopFactory()
    for _ in range(MAX_ENDPOINTS - 1):
        endpoints.create(shop=shop, url=receiver.url)
    both = [logged_in(*PERMISSIONS, name=name) for name in ("ada", "bob")]
    with Threads(2) as pool:
        with transaction.atomic():
            Shop.objects.select_for_update(no_key=True).get(id=shop.id)
            made = [pool.submit(each.post, f"{ENDPOINTS}add/", {"shop": shop.id, "url": receiver.url}) for each in both]
            assert len(wait(made, timeout=2).not_done) == len(both)  # they wait for the shop
        told = ["A shop has at most 10 endpoints" in each.result(WAIT_TIMEOUT_S).text for each in made]
    assert (sorted(told), WebhookEndpoint.objects.count()) == ([False, True], MAX_ENDPOINTS)


def test_an_endpoint_is_paused_and_resumed_and_keeps_its_url(
    staff: Client, endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    change = f"{ENDPOINTS}{endpoint.id}/change/"
    staff.post(change, {"is_paused": "on", "url": "https://evil.example/"})
    assert tell_and_deliver(endpoint.shop_id) == 0
    WebhookDelivery.objects.update(due_at=timezone.now() + timedelta(hours=5))
    staff.post(change, {"event_types": ["label.failed"]})
    assert deliver_due() == 1
    endpoint.refresh_from_db()
    assert endpoint.url == receiver.url
    assert endpoint.event_types == ["label.failed"]


def test_a_rotation_is_confirmed_shows_the_new_secret_once_and_logs_by_whom(
    staff: Client, endpoint: WebhookEndpoint
) -> None:
    before = secret_of(endpoint)
    question = act(staff, "rotate", endpoint)
    endpoint.refresh_from_db()
    assert secret_of(endpoint) == before
    assert "The one before signs as well for 24 hours" in question
    page = act(staff, "rotate", endpoint, is_confirmed="yes")
    endpoint.refresh_from_db()
    assert secret_of(endpoint) != before
    assert secret_of(endpoint) in page
    assert before not in page
    assert "history.replaceState(null, '')" in page  # so loading it again is a GET, which rotates nothing
    assert note() == "Secret rotated."


def test_a_long_url_is_shown_whole_on_its_own_page_only(staff: Client, shop: Shop, receiver: Receiver) -> None:
    made, _ = endpoints.create(shop=shop, url=f"{receiver.url}/{'long' * 20}")
    assert made.url not in staff.get(ENDPOINTS).text
    assert made.url in staff.get(f"{ENDPOINTS}{made.id}/change/").text


def test_a_test_is_sent(staff: Client, endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    act(staff, "send_test", endpoint)
    deliver_due()
    assert receiver.received[0].content["type"] == "webhook.test"


@pytest.mark.parametrize(
    ("reason", "french"),
    [("it answered 410", "il a répondu 410"), ("nothing but failures for 5 days", "que des échecs depuis 5 jours")],
)
def test_why_an_endpoint_is_disabled_is_said_in_french(
    reason: str, french: str, staff: Client, endpoint: WebhookEndpoint
) -> None:
    endpoints.disable(endpoint.id, reason)
    for path in (ENDPOINTS, page_of(endpoint)):
        page = staff.get(path, headers=FRENCH).text
        assert (french in page, reason in page) == (True, False), path


def test_a_disabled_endpoint_is_marked_and_enabled_again(staff: Client, endpoint: WebhookEndpoint) -> None:
    endpoints.disable(endpoint.id, "it answered 410")
    assert "it answered 410" in staff.get(ENDPOINTS).text
    assert "Enable again" in staff.get(f"{ENDPOINTS}{endpoint.id}/change/").text
    act(staff, "enable", endpoint)
    endpoint.refresh_from_db()
    assert endpoint.state == "active"
    assert note() == "Enabled."
    assert "none of them is disabled" in act(staff, "enable", endpoint)  # a colleague's click
    assert note() == "Enabled."


def test_an_endpoint_is_revoked_after_a_question(staff: Client, endpoint: WebhookEndpoint) -> None:
    assert "cannot be undone" in act(staff, "revoke", endpoint)
    assert WebhookEndpoint.objects.get().state == "active"
    act(staff, "revoke", endpoint, is_confirmed="yes")
    assert WebhookEndpoint.objects.get().state == "revoked"
    assert "revoked before" in act(staff, "send_test", endpoint)
    assert not WebhookDelivery.objects.exists()
    assert staff.post(f"{ENDPOINTS}{endpoint.id}/delete/", {"post": "yes"}).status_code == 403


def test_the_question_names_what_it_leaves_out(staff: Client, endpoint: WebhookEndpoint) -> None:
    other, _ = endpoints.create(shop=endpoint.shop, url=endpoint.url)
    endpoints.revoke(other)
    chosen = {"action": "revoke", "_selected_action": [endpoint.id, other.id]}
    asked = staff.post(ENDPOINTS, chosen).text
    assert "<h2>Revoke webhook endpoints</h2>" in asked
    assert "Left out: revoked before" in asked
    assert page_of(other) in asked
    assert "endpoints were revoked before" in act(staff, "revoke", other)


def test_who_acts_on_rows_that_have_left_the_list_is_told_so(staff: Client, endpoint: WebhookEndpoint) -> None:
    data = {"action": "revoke", "_selected_action": endpoint.id}
    page = staff.post(f"{ENDPOINTS}?state=disabled", data, follow=True).text  # it was enabled meanwhile
    assert "Nothing was done: what was chosen is no longer in this list." in page


def test_what_can_not_be_logged_is_not_done(
    staff: Client, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _event = secret_of(endpoint), endpoints.send_test(endpoint)
    for admin in ("webhooks.WebhookEndpointAdmin", "deliveries.WebhookDeliveryAdmin"):
        monkeypatch.setattr(f"shops.admin.{admin}.log_change", None)
    staff.raise_request_exception = False
    for action in ("revoke", "rotate", "send_test"):
        act(staff, action, endpoint, is_confirmed="yes")
    WebhookDelivery.objects.update(state="dead")
    act(staff, "replay", WebhookDelivery.objects.get())
    endpoint.refresh_from_db()
    assert (endpoint.state, secret_of(endpoint)) == ("active", before)
    assert set(WebhookDelivery.objects.values_list("state", flat=True)) == {"dead"}


def test_everything_since_a_moment_is_delivered_again(
    staff: Client, endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    tell_label(endpoint.shop_id, "before")
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(days=2))
    tell_and_deliver(endpoint.shop_id, "after")
    assert "Events since" in act(staff, "replay", endpoint)
    since = timezone.now() - timedelta(days=1)
    moment = {"since_0": f"{since:%Y-%m-%d}", "since_1": f"{since:%H:%M:%S}"}
    assert "Enter a valid date" in act(staff, "replay", endpoint, is_confirmed="yes", since_0="x", since_1="y")
    assert "2000-01-01" in act(staff, "replay", endpoint, is_confirmed="yes", since_0="0001-01-01", since_1="00:00")
    staff.defaults["HTTP_ACCEPT_LANGUAGE"] = "fr"
    act(staff, "replay", endpoint, is_confirmed="yes", **moment)
    assert AuditEntry.objects.latest("id").details["note"].startswith("Queued again since 20")
    deliver_due()
    assert sorted(each.data["id"] for each in receiver.received) == ["after", "after", "before"]


def test_a_delivery_is_seen_with_its_answer_and_made_again(
    staff: Client, endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    receiver.status = 503
    tell_and_deliver(endpoint.shop_id, "seen")
    made = WebhookDelivery.objects.get()
    for page in (staff.get(DELIVERIES).text, staff.get(f"{DELIVERIES}{made.id}/change/").text):
        for shown in (made.event_id, endpoint.id, "label.failed", "seen", "503"):
            assert shown in page
    assert "1: 503" in staff.get(DELIVERIES).text
    assert "1 of 1 queued" in act(staff, "replay", made)
    WebhookDelivery.objects.update(state="dead")
    assert "1 of 1 queued again" in act(staff, "replay", made)
    receiver.status = 200
    deliver_due()
    assert WebhookDelivery.objects.get().state == "delivered"


def test_a_delivery_of_a_revoked_endpoint_is_not_made_again_nor_said_to_be(
    staff: Client, endpoint: WebhookEndpoint
) -> None:
    revoked, _ = endpoints.create(shop=endpoint.shop, url=endpoint.url)
    tell_label(endpoint.shop_id)
    endpoints.revoke(revoked)
    page = act(staff, "replay", *WebhookDelivery.objects.all())
    assert "1 of 2 queued again, due at once; the endpoint of any other is revoked." in page
    again = WebhookDelivery.objects.get(state="queued")
    assert (changes()[0].object_id, note()) == (str(again.pk), "Delivered again.")


@pytest.mark.parametrize("field", ["event_id", "subject", "endpoint_id"])
def test_deliveries_are_found_by(field: str, staff: Client, endpoint: WebhookEndpoint) -> None:
    tell_label(endpoint.shop_id, "wanted")
    made = WebhookDelivery.objects.get()
    assert made.event_id in staff.get(DELIVERIES, {"q": getattr(made, field)}).text
    assert made.event_id not in staff.get(DELIVERIES, {"q": "other"}).text


def test_deliveries_are_filtered(staff: Client, endpoint: WebhookEndpoint) -> None:
    tell_label(endpoint.shop_id)
    made = WebhookDelivery.objects.get()
    day = days.day_of(made.created_at).isoformat()
    for fitting in (
        *({"state": "queued"}, {"type": "label.failed"}, {"endpoint__id__exact": endpoint.id}),
        {"created_from": day, "created_to": day},
    ):
        assert made.event_id in staff.get(DELIVERIES, fitting).text, fitting
    for other in ({"state": "dead"}, {"type": "label.generated"}, {"created_to": "2026-01-01"}):
        assert made.event_id not in staff.get(DELIVERIES, other).text, other


def test_lists_cost_the_same_for_one_row_and_for_many(staff: Client, endpoint: WebhookEndpoint) -> None:
    tell_label(endpoint.shop_id)
    staff.get(ENDPOINTS)
    costs = [query_count(staff, path) for path in (ENDPOINTS, DELIVERIES)]
    for number in range(5):
        endpoints.create(shop=endpoint.shop, url=endpoint.url)
        tell_label(endpoint.shop_id, f"label-{number}")
    assert [query_count(staff, path) for path in (ENDPOINTS, DELIVERIES)] == costs


def test_who_may_only_look_changes_nothing(endpoint: WebhookEndpoint) -> None:
    viewer = logged_in("view_webhookendpoint", "view_webhookdelivery", name="bob")
    tell_label(endpoint.shop_id)
    WebhookDelivery.objects.update(state="dead")
    act(viewer, "revoke", endpoint, is_confirmed="yes")
    act(viewer, "replay", WebhookDelivery.objects.get())
    assert viewer.post(f"{ENDPOINTS}add/", {"shop": endpoint.shop_id, "url": endpoint.url}).status_code == 403
    assert WebhookEndpoint.objects.get().state == "active"
    assert WebhookDelivery.objects.get().state == "dead"


def test_the_page_of_an_endpoint_leads_to_its_deliveries(endpoint: WebhookEndpoint) -> None:
    link = f'href="{DELIVERIES}?endpoint__id__exact={endpoint.id}"'
    viewer = logged_in("view_webhookendpoint", "view_webhookdelivery", name="bob")
    assert link in viewer.get(f"{ENDPOINTS}{endpoint.pk}/change/").text
    viewer = logged_in("view_webhookendpoint", name="eve")
    assert link not in viewer.get(f"{ENDPOINTS}{endpoint.pk}/change/").text


def test_who_may_only_look_is_told_the_types_in_words(endpoint: WebhookEndpoint) -> None:
    viewer = logged_in("view_webhookendpoint", name="bob")
    for chosen, words in (([], "All types"), (["label.failed", "label.generated"], "label.failed, label.generated")):
        WebhookEndpoint.objects.update(event_types=chosen)
        page = viewer.get(f"{ENDPOINTS}{endpoint.pk}/change/").text
        assert words in page
