"""The admin's pages of shops and tokens, as a browser sees them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import OperationalError, transaction
from django.test import Client

from config.admin import UserAdmin
from shops import tokens
from shops.admin.shops import ShopAdmin
from shops.admin.tokens import MAX_TOKENS, REVOKE, AccessTokenAdmin
from shops.models import AccessToken, Shop
from shops.staff.audit.models import AuditEntry
from tests.labels.gates import during
from tests.labels.orders import SENDER
from tests.shops.commands import call
from tests.support.api import client, logged_in, query_count
from tests.support.audit import changes, note
from tests.support.cases import in_one_test
from tests.support.desk import act, seen
from tests.support.factories import AccessTokenFactory
from tests.support.markup import parsed
from tests.support.sql import WAITING, value
from tests.support.threads import Elsewhere, Threads
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_sidebar")]
PERMISSIONS = (
    *("add_shop", "change_shop", "add_accesstoken", "change_accesstoken", "view_personal_data", "add_user"),
    *("change_user", "delete_user", "add_carriercontract", "add_webhookendpoint", "change_webhookdelivery"),
)
TOKENS = "/admin/shops/accesstoken/"
SHOPS = "/admin/shops/shop/"
JOINED = {"date_joined_0": "2026-01-01", "date_joined_1": "10:00"}
NO_TOKENS = {"tokens-TOTAL_FORMS": 0, "tokens-INITIAL_FORMS": 0}
RENAMED = {"name": "Renamed", "is_active": "on"} | NO_TOKENS
HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>"""


def test_the_admin_is_found_without_its_slash() -> None:
    assert client().get("/admin").headers["Location"] == "/admin/"
    assert client().get("/admin/", follow=True).templates[0].name == "account/login.html"


def test_a_shop_is_made_renamed_and_made_inactive_but_never_deleted(staff: Client) -> None:
    staff.post(f"{SHOPS}add/", {"name": "Nordlicht", "is_active": "on"})
    shop = Shop.objects.get()
    answer = staff.post(f"{SHOPS}{shop.id}/change/", {"name": "Nordlicht Versand"} | NO_TOKENS)
    assert answer.status_code == 302
    shop.refresh_from_db()
    assert (shop.name, shop.is_active) == ("Nordlicht Versand", False)
    assert staff.post(f"{SHOPS}{shop.id}/delete/", {"post": "yes"}).status_code == 403


def test_by_a_page_that_is_out_of_date_nothing_is_saved(staff: Client, shop: Shop) -> None:
    page = f"{SHOPS}{shop.id}/change/"
    read = {"seen": seen(staff.get(page).text)}
    Shop.objects.filter(id=shop.id).update(is_active=False)  # a colleague stops the shop
    assert "it has changed since the page was read" in staff.post(page, RENAMED | read, follow=True).text
    shop.refresh_from_db()
    assert (shop.is_active, shop.name == "Renamed") == (False, False)
    staff.post(page, RENAMED | {"seen": seen(staff.get(page).text)})
    shop.refresh_from_db()
    assert (shop.is_active, shop.name) == (True, "Renamed")


def test_roles_that_a_colleague_took_away_are_not_given_back_by_a_page_read_before(staff: Client) -> None:
    user = User.objects.create_user("bea", is_staff=True)
    support = Group.objects.get(name="Support")
    user.groups.add(support)
    page, fields = f"/admin/auth/user/{user.pk}/change/", {"username": "bea", "is_staff": "on", **JOINED}
    read = {"seen": seen(staff.get(page).text), "groups": [support.pk]}
    user.groups.clear()
    staff.post(page, fields | read | {"email": "bea@example.com"})
    user.refresh_from_db()
    assert (user.email, user.groups.count()) == ("", 0)


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_what_a_command_or_its_owner_changes_while_a_page_is_saved_stays_changed(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = User.objects.create_user("bea", is_staff=True)
    acts: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        f"{SHOPS}{shop.id}/change/": (
            ShopAdmin,
            lambda: call("set_sender_address", shop.id, "-", stdin=orjson.dumps(SENDER)),
            RENAMED,
        ),
        f"/admin/auth/user/{user.pk}/change/": (
            UserAdmin,
            lambda: User.objects.filter(pk=user.pk).update(password="its owner's"),
            {"username": "bea", "is_staff": "on", "first_name": "Renamed", **JOINED},
        ),
    }
    for page, (admin, change, fields) in acts.items():
        changing = Elsewhere(change)
        during(monkeypatch, admin, "save_model", before=lambda *_, changing=changing: changing.begin())
        staff.post(page, fields | {"seen": seen(staff.get(page).text)})
        changing.join()
    shop.refresh_from_db()
    user.refresh_from_db()
    saved, changed = (shop.name, user.first_name), (shop.sender_address, user.password)
    assert (saved, changed) == (("Renamed", "Renamed"), (SENDER, "its owner's"))


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_by_a_page_that_waits_for_another_change_nothing_is_saved(staff: Client, shop: Shop) -> None:
    page = f"{SHOPS}{shop.id}/change/"
    read = {"seen": seen(staff.get(page).text)}
    with Threads(1) as pool:
        with transaction.atomic():
            Shop.objects.update(is_active=False)
            saved = pool.submit(staff.post, page, RENAMED | read, follow=True)
            until(lambda: value(WAITING))
        answer = saved.result(WAIT_TIMEOUT_S)
    assert "it has changed since the page was read" in answer.text
    shop.refresh_from_db()
    assert (shop.is_active, shop.name == "Renamed") == (False, False)


def test_a_list_of_shops_or_tokens_costs_the_same_for_one_and_for_fifty(staff: Client, shop: Shop) -> None:
    AccessToken.issue(shop=shop)
    staff.get(SHOPS)  # fills caches that outlive a request
    costs = [query_count(staff, path) for path in (SHOPS, TOKENS)]
    for number in range(50):
        AccessToken.issue(shop=Shop.objects.create(name=f"Shop {number}"))
    assert [query_count(staff, path) for path in (SHOPS, TOKENS)] == costs


def test_a_shops_page_lists_its_tokens_at_one_cost(staff: Client, shop: Shop) -> None:
    AccessToken.issue(shop=shop, name="checkout")
    path = f"{SHOPS}{shop.id}/change/"
    assert "checkout" in staff.get(path).text
    cost = query_count(staff, path)
    for _ in range(20):
        AccessToken.issue(shop=shop)
    assert query_count(staff, path) == cost


def test_a_shops_page_shows_where_it_sends_from(staff: Client, shop: Shop) -> None:
    path = f"{SHOPS}{shop.id}/change/"
    names = ("firstName", "lastName", "address1", "zip", "city", "countryCode", "phone")
    shop.sender_address = {name: f"the {name}" for name in names}
    shop.save()
    page = staff.get(path).text
    for name in names:
        assert f"the {name}" in page
    staff.post(path, {"name": "new", "sender_address": "{}"} | NO_TOKENS)
    assert Shop.objects.get().sender_address == shop.sender_address


def test_a_new_token_works_and_is_shown_in_the_answer_that_makes_it_and_nowhere_else(staff: Client, shop: Shop) -> None:
    answer = staff.post(f"{TOKENS}add/", {"shop": shop.id, "name": "checkout"})
    token = AccessToken.objects.get()
    secret = secret_in(answer.text)
    assert token.digest == tokens.digest(secret)
    assert token.name == "checkout"
    assert "no-store" in answer.headers["Cache-Control"]
    assert not answer.cookies.get("messages")
    for path in (TOKENS, f"{TOKENS}{token.id}/change/", f"{TOKENS}{token.id}/history/", "/admin/"):
        assert secret not in staff.get(path).text
    assert secret not in str([session.get_decoded() for session in Session.objects.all()])
    assert secret not in str(list(AuditEntry.objects.values()))


def test_the_digest_is_on_no_page_and_no_list_can_be_filtered_by_it(staff: Client, shop: Shop) -> None:
    token, _ = AccessToken.issue(shop=shop)
    for path in (TOKENS, f"{TOKENS}{token.id}/change/", f"{SHOPS}{shop.id}/change/"):
        assert token.digest not in staff.get(path).text
    assert staff.get(TOKENS, {"digest__startswith": token.digest[0]}).status_code == 400
    assert staff.get(SHOPS, {"tokens__digest__startswith": token.digest[0]}).status_code == 400


def test_a_token_expires_in_the_future_only(staff: Client, shop: Shop) -> None:
    past = {"expires_at_0": "2020-01-01", "expires_at_1": "12:00"}
    assert "in the past" in staff.post(f"{TOKENS}add/", {"shop": shop.id, **past}).text
    assert not AccessToken.objects.exists()
    staff.post(f"{TOKENS}add/", {"shop": shop.id, "expires_at_0": "2099-01-01", "expires_at_1": "12:00"})
    assert AccessToken.objects.get().expires_at == datetime(2099, 1, 1, 11, tzinfo=UTC)


def test_a_token_is_renamed_but_stays_with_its_shop_and_its_digest(staff: Client, shop: Shop) -> None:
    other = Shop.objects.create(name="Other")
    token, secret = AccessToken.issue(shop=shop)
    staff.post(f"{TOKENS}{token.id}/change/", {"name": "new", "shop": other.id, "digest": "0" * 64})
    token.refresh_from_db()
    assert (token.name, token.shop, token.digest) == ("new", shop, tokens.digest(secret))


def test_tokens_are_revoked_after_a_question_and_the_log_says_by_whom(staff: Client, shop: Shop) -> None:
    token, _ = AccessToken.issue(shop=shop)
    chosen = {"action": "revoke", "_selected_action": token.id}
    assert "cannot be undone" in staff.post(TOKENS, chosen).text
    token.refresh_from_db()
    assert token.is_valid
    assert token.id in staff.post(TOKENS, chosen | {"is_confirmed": "yes"}, follow=True).text
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert (changes()[0].object_id, note()) == (token.id, "Revoked.")


def test_of_two_who_revoke_a_token_at_once_one_is_on_record(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, _ = AccessToken.issue(shop=shop)
    colleague = logged_in(*PERMISSIONS, name="bea")
    form = {"_selected_action": [token.id], "action": "revoke", "is_confirmed": "yes"}
    during(monkeypatch, AccessTokenAdmin, "choice", after=lambda _: colleague.post(TOKENS, form))
    assert "none, as they were revoked before" in staff.post(TOKENS, form, follow=True).text
    assert [(entry.actor, entry.object_id) for entry in changes()] == [("bea", token.id)]


def test_no_more_tokens_are_revoked_at_a_time_than_a_form_may_have(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_TOKENS + 10 < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    monkeypatch.setattr(REVOKE, "limit", 1)
    chosen = AccessTokenFactory.create_batch(2, shop=shop)
    assert "Choose at most 1 tokens. Nothing was done." in act(staff, "revoke", *chosen, is_confirmed="yes").text
    assert not changes()


def test_a_question_and_its_act_lead_back_to_the_list_as_it_was_filtered(staff: Client, shop: Shop) -> None:
    token, _ = AccessToken.issue(shop=shop)
    chosen, valid = {"action": "revoke", "_selected_action": token.id}, f"{TOKENS}?state=valid"
    question = staff.post(valid, chosen).text
    assert f'<a href="{valid}"' in question
    assert '<form method="post" class="confirm">' in question
    assert staff.post(valid, chosen | {"is_confirmed": "yes"}).headers["Location"] == valid
    token.refresh_from_db()
    assert not token.is_valid


def test_a_revocation_that_can_not_be_logged_fails(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    token, _ = AccessToken.issue(shop=shop)

    monkeypatch.setattr("shops.admin.tokens.AccessTokenAdmin.log_change", Mock(side_effect=OperationalError("gone")))
    answer = staff.post(TOKENS, {"action": "revoke", "_selected_action": token.id, "is_confirmed": "yes"})
    assert answer.status_code == 500
    token.refresh_from_db()
    assert token.is_valid


def test_a_tokens_page_offers_to_revoke_it_until_it_is_revoked(staff: Client, shop: Shop) -> None:
    token, _ = AccessToken.issue(shop=shop)
    path = f"{TOKENS}{token.id}/change/"
    assert "Revoke this token" in staff.get(path).text
    AccessToken.objects.revoke()
    assert "Revoke this token" not in staff.get(path).text
    assert staff.post(path, {"name": "new"}).status_code == 403


def test_a_token_is_never_deleted(staff: Client, shop: Shop) -> None:
    token, _ = AccessToken.issue(shop=shop)
    assert staff.post(f"{TOKENS}{token.id}/delete/", {"post": "yes"}).status_code == 403
    staff.post(TOKENS, {"action": "delete_selected", "_selected_action": token.id, "post": "yes"})
    assert AccessToken.objects.exists()


@pytest.mark.parametrize("state", ["valid", "revoked", "expired", "shop inactive"])
def test_the_list_tells_a_tokens_state_and_filters_by_it(staff: Client, state: str) -> None:
    now = datetime.now(UTC)
    closed, shop = Shop.objects.create(name="Closed", is_active=False), Shop.objects.create(name="Open")
    AccessToken.issue(shop=shop, name="valid")
    AccessToken.issue(shop=shop, name="valid until", expires_at=now + timedelta(days=1))
    AccessToken.issue(shop=shop, name="expired", expires_at=now - timedelta(days=1))
    AccessToken.issue(shop=closed, name="shop inactive")
    token, _ = AccessToken.issue(shop=closed, name="revoked", expires_at=now - timedelta(days=1))
    AccessToken.objects.filter(id=token.id).revoke()
    listed = staff.get(TOKENS, {"state": state}).context["cl"].result_list
    assert {token.name.removesuffix(" until") for token in listed} == {state}
    assert f"\n{state}\n" in staff.get(TOKENS, {"state": state}).text


def test_a_viewer_can_neither_create_nor_change_nor_revoke(shop: Shop) -> None:
    viewer = logged_in("view_accesstoken", "view_shop")
    token, _ = AccessToken.issue(shop=shop)
    for path in (SHOPS, TOKENS, f"{SHOPS}{shop.id}/change/", f"{TOKENS}{token.id}/change/"):
        assert viewer.get(path).status_code == 200
    for path in (f"{SHOPS}add/", f"{TOKENS}add/", f"{TOKENS}{token.id}/change/", f"{SHOPS}{shop.id}/change/"):
        assert viewer.post(path, {"name": "new", "shop": shop.id}).status_code == 403
    viewer.post(TOKENS, {"action": "revoke", "_selected_action": token.id, "is_confirmed": "yes"})
    token.refresh_from_db()
    assert token.is_valid


def test_names_are_shown_as_text(staff: Client) -> None:
    shop = Shop.objects.create(name=HOSTILE)
    token, _ = AccessToken.issue(shop=shop, name=HOSTILE)
    pages = [staff.get(path) for path in (SHOPS, TOKENS, f"{SHOPS}{shop.id}/change/", f"{TOKENS}{token.id}/change/")]
    pages.append(staff.post(TOKENS, {"action": "revoke", "_selected_action": token.id}))
    pages.append(staff.post(f"{TOKENS}add/", {"shop": shop.id, "name": HOSTILE}))
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "&lt;script&gt;alert(1)" in page.text


def test_a_name_has_one_line(staff: Client, shop: Shop) -> None:
    for page in (f"{SHOPS}add/", f"{TOKENS}add/"):
        answer = staff.post(page, {"shop": shop.id, "name": "Nord\nlicht", "is_active": "on"})
        assert "Needs one line, without control characters." in answer.text
    assert Shop.objects.get() == shop
    assert not AccessToken.objects.exists()


def test_a_shop_is_chosen_by_typing_a_part_of_its_name(staff: Client, shop: Shop) -> None:
    query = {"term": "lumi", "app_label": "shops", "model_name": "accesstoken", "field_name": "shop"}
    answer = staff.get("/admin/autocomplete/", query)
    assert [result["id"] for result in answer.json()["results"]] == [shop.id]


def test_a_colleagues_account_can_be_made(staff: Client) -> None:
    answer = staff.post(
        "/admin/auth/user/add/", {"username": "bob", "password1": "battery 9", "password2": "battery 9"}
    )
    bob = User.objects.get(username="bob")
    assert answer.headers["Location"] == f"/admin/auth/user/{bob.pk}/change/"
    assert (bob.is_staff, bob.is_superuser, bob.has_usable_password()) == (True, False, False)


def secret_in(page: str) -> str:
    """Return the value of the page's read-only input."""
    (secret,) = parsed(page).xpath("//input[@readonly]/@value")
    return str(secret)


@in_one_test("query", ["expires_at=x", "name=x&digest=y", "shop=nobody", "shop=x&expires_at=2026-01-01", "id=1"])
def test_any_text_in_the_address_of_a_form_has_a_proper_answer(staff: Client, query: str) -> None:
    for form in (TOKENS, SHOPS, "/admin/shops/carriercontract/", "/admin/shops/webhookendpoint/", "/admin/auth/user/"):
        assert staff.get(f"{form}add/?{query}").status_code == 200, form


@pytest.mark.parametrize(("page", "action"), [("auth/user", "delete_selected"), ("shops/webhookdelivery", "replay")])
def test_any_text_as_a_selected_row_has_a_proper_answer(staff: Client, page: str, action: str) -> None:
    answer = staff.post(f"/admin/{page}/", {"action": action, "_selected_action": "x"})
    assert answer.status_code == 400


def test_a_link_to_a_new_token_chooses_its_shop(staff: Client, shop: Shop) -> None:
    answer = staff.get(f"{TOKENS}add/?shop={shop.id}&name=x")
    assert f'<option value="{shop.id}" selected' in answer.text
    assert 'value="x"' not in answer.text
