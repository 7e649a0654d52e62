"""A token for a shop's data is made by two people, or by one who sees personal data anyway."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from shops.models import AccessToken, Shop
from shops.staff.pages import page_of
from tests.support.api import Caller, Response
from tests.support.desk import act, member

pytestmark = pytest.mark.django_db
TOKENS = "/admin/shops/accesstoken/"
TOKEN = re.compile(r"pts_\w{36}")


def add(browser: Client, shop: Shop) -> Response:
    return browser.post(f"{TOKENS}add/", {"shop": shop.id, "name": "checkout"}, follow=True)


def another(role: str) -> Client:
    """A second member of the staff in a role."""
    count = User.objects.count()
    User.objects.filter(username=role.lower()).update(username=f"{role.lower()} {count}")
    return member(role)


def test_who_sees_no_customers_asks_for_a_token_and_a_colleague_gives_it(shop: Shop) -> None:
    asker = member("Operations")
    assert not TOKEN.findall(add(asker, shop).text)
    token = AccessToken.objects.get()
    assert (token.is_valid, token.asked_by, token.last_four) == (False, "operations", "")
    refused = act(asker, "give", token)
    assert "a colleague gives it" in refused.text
    assert not TOKEN.findall(refused.text)
    assert "asked for" in asker.get(TOKENS).text
    assert 'value="give"' not in asker.get(page_of(token)).text
    giver = another("Operations")
    AccessToken.objects.update(asked_by="operations 1")
    assert 'value="give"' in giver.get(page_of(token)).text
    (text, *_) = TOKEN.findall(act(giver, "give", token).text)
    assert Caller(shop, text).search(email="zoe@example.com").status_code == 200
    token.refresh_from_db()
    assert (token.is_valid, token.last_four) == (True, text[-4:])
    assert not TOKEN.findall(act(another("Operations"), "give", token).text)  # it is given once


def test_of_two_colleagues_who_give_it_at_once_one_is_shown_its_text(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(member("Operations"), shop)
    token, faster, give_it = AccessToken.objects.get(), AccessToken.objects.get(), AccessToken.give
    monkeypatch.setattr(AccessToken, "give", lambda each: (give_it(faster), give_it(each))[1])
    answer = act(member("root"), "give", token)
    assert not TOKEN.findall(answer.text)
    assert "A colleague was faster." in answer.text


@pytest.mark.parametrize("lost", ["account", "role"])
def test_what_somebody_asked_for_who_may_no_longer_is_not_given(lost: str, shop: Shop) -> None:
    add(member("Operations"), shop)
    asker = User.objects.get()
    if lost == "role":
        asker.groups.clear()
    else:
        User.objects.update(is_active=False)
    User.objects.update(username="carol")
    AccessToken.objects.update(asked_by="carol")
    answer = act(member("Operations"), "give", AccessToken.objects.get())
    assert not TOKEN.findall(answer.text)
    assert "carol asked for it, and may no longer: revoke it." in answer.text


def test_who_sees_customers_anyway_makes_a_token_alone(shop: Shop) -> None:
    (text, *_) = TOKEN.findall(add(member("root"), shop).text)
    assert AccessToken.objects.get().last_four == text[-4:]


def test_a_token_that_was_asked_for_and_revoked_is_never_given(shop: Shop) -> None:
    add(member("Operations"), shop)
    AccessToken.objects.all().revoke()
    assert not TOKEN.findall(act(member("root"), "give", AccessToken.objects.get()).text)


def test_one_that_has_expired_before_is_not_given(shop: Shop) -> None:
    add(member("Operations"), shop)
    AccessToken.objects.update(expires_at=timezone.now())
    giver = member("root")
    assert 'value="give"' not in giver.get(page_of(AccessToken.objects.get())).text
    answer = act(giver, "give", AccessToken.objects.get())
    assert not TOKEN.findall(answer.text)
    assert "Choose one token that is asked for." in answer.text


def test_support_gives_none_as_it_may_change_none(shop: Shop) -> None:
    add(member("Operations"), shop)
    assert not TOKEN.findall(act(member("Support"), "give", AccessToken.objects.get()).text)
