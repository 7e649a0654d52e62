"""Passwords and factors are given so that whoever gives them can't use them."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.test import Client
from django.utils import timezone

from config.login import factors, passwords
from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import Actor, acting, record
from tests.config.login.staff import LOGIN, Staff, give_password
from tests.labels.gates import during
from tests.support.api import Clock, Response, client
from tests.support.desk import act, give, member
from tests.support.threads import Elsewhere

pytestmark = pytest.mark.django_db
USERS = "/admin/auth/user/"
NEW = "another horse 10"


def clerks() -> tuple[Client, Client]:
    """Two who keep accounts."""
    first = member("Accounts")
    User.objects.filter(username="accounts").update(username="carol")
    return first, member("Accounts")


def link_in(answer: Response) -> str:
    (path,) = re.findall(r'value="http://testserver(/admin/account/password/[^"]+)"', answer.text)
    return str(path)


def set_password(browser: Client, link: str, password: str = NEW) -> Response:
    form = browser.get(link, follow=True).redirect_chain
    address = form[-1][0] if form else link
    return browser.post(address, {"new_password1": password, "new_password2": password})


def test_an_account_is_made_without_a_password_and_its_owner_sets_it_once(clock: Clock) -> None:
    maker, giver = clerks()
    assert maker.post(f"{USERS}add/", {"username": "bob"}).status_code == 302
    bob = User.objects.get(username="bob")
    assert (bob.is_staff, bob.has_usable_password()) == (True, False)
    assert "a colleague who did not gives the link" in act(maker, "give_password_link", bob).text
    carol = User.objects.get(username="carol")
    give(maker, carol, username="c")
    assert "a colleague who did not gives the link" in act(maker, "give_password_link", bob).text, "by another name"
    given = act(giver, "give_password_link", bob)
    assert "/static/shops/admin.css" in given.text  # the page's layout
    link = link_in(given)
    assert set_password(client(), link).status_code == 302
    assert give_password(client(), "bob", NEW).status_code == 302
    page = client().get(link, follow=True).text
    assert "opens nothing any more" in page
    assert f'href="{LOGIN}"' in page
    entries = AuditEntry.objects.filter(object_type="auth.user", object_id=str(bob.pk)).order_by("id")
    assert [entry.actor for entry in entries][:3] == ["carol", "accounts", ""]
    assert NEW not in str(list(AuditEntry.objects.values()))
    assert link not in str(list(AuditEntry.objects.values()))


def test_a_link_is_for_one_colleague() -> None:
    accounts, bob, carol = member("Accounts"), *(User.objects.create_user(name, is_staff=True) for name in ("bob", "c"))
    for chosen in ([bob, carol], [User.objects.get(username="accounts")]):
        assert "Choose one colleague." in act(accounts, "give_password_link", *chosen).text


def test_a_link_is_good_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    _, giver = clerks()
    bob = User.objects.create_user("bob", is_staff=True)
    link = link_in(act(giver, "give_password_link", bob))
    now = PasswordResetTokenGenerator._now
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self: now(self) + timedelta(hours=24, seconds=2))
    assert "opens nothing any more" in client().get(link, follow=True).text
    bob.refresh_from_db()
    assert not bob.has_usable_password()


def test_whoever_chose_its_roles_gives_no_link(clock: Clock) -> None:
    chooser, giver = clerks()
    bob = User.objects.create_user("bob", is_staff=True)
    with acting(Actor("carol", Channel.ADMIN)):
        record(Action.CHANGED, bob, changes={"groups": [[], ["Support"]]})
    assert "chose its roles" in act(chooser, "give_password_link", bob).text
    assert link_in(act(giver, "give_password_link", bob))


def test_whoever_gave_the_link_chooses_no_roles(clock: Clock) -> None:
    giver, chooser = clerks()
    bob = User.objects.create_user("bob", is_staff=True)
    assert link_in(act(giver, "give_password_link", bob))
    assert give(giver, bob, "Support").status_code == 302
    assert not bob.groups.exists()
    assert give(chooser, bob, "Support").status_code == 302
    assert bob.groups.get().name == "Support"
    give(giver, bob, "Support", is_active="")
    bob.refresh_from_db()
    assert (bob.is_active, bob.groups.get().name) == (False, "Support")  # to lock out is everybody's


@pytest.mark.real_services
def test_nobody_gives_the_link_and_chooses_roles_at_once(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    giver = member("Accounts")
    bob = User.objects.create_user("bob", is_staff=True)
    choice = Elsewhere(lambda: give(giver, bob, "Support"))
    during(monkeypatch, passwords, "link_for", before=lambda *_: choice.begin())
    assert link_in(act(giver, "give_password_link", bob))
    choice.join()
    assert not bob.groups.exists()


def test_nobody_sets_the_password_of_another() -> None:
    bob = User.objects.create_user("bob", is_staff=True)
    for role in ("Accounts", "root"):
        browser = member(role)
        answer = browser.post(f"{USERS}{bob.pk}/password/", {"password1": NEW, "password2": NEW})
        assert answer.status_code == 403
        assert "password" not in browser.get(f"{USERS}{bob.pk}/change/").text.partition("<form")[2].lower()
    bob.refresh_from_db()
    assert not bob.has_usable_password()


def test_with_a_link_alone_nobody_becomes_somebody_who_has_a_factor(clock: Clock) -> None:
    bob = Staff("bob", is_superuser=False).with_app()
    _, giver = clerks()
    thief, link = client(), link_in(act(giver, "give_password_link", bob.user))
    set_password(thief, link)
    give_password(thief, "bob", NEW)
    assert thief.get("/admin/").status_code == 302


def test_a_factor_is_reset_by_two_within_a_day_and_its_owner_is_told(clock: Clock) -> None:
    bob = Staff("bob", is_superuser=False).with_app()
    bob.log_in()
    first, second = clerks()
    for browser in (first, first):
        assert "asked for" in act(browser, "reset_second_factor", bob.user).text
    assert factors.has_factor(bob.user)
    assert "reset" in act(second, "reset_second_factor", bob.user).text
    assert not factors.has_factor(bob.user)
    bob.browser = client()
    page = bob.give_password(follow=True).text
    assert "Your account, by carol" in page
    assert "Second factor reset" in page
    bob.with_app()
    assert "asked for" in act(second, "reset_second_factor", bob.user).text  # the first one's asking is used up
    assert factors.has_factor(bob.user)


def test_a_reset_that_was_asked_for_long_ago_is_asked_for_anew() -> None:
    bob = Staff("bob", is_superuser=False).with_app()
    first, second = clerks()
    act(first, "reset_second_factor", bob.user)
    later = timezone.now() + timedelta(hours=25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("config.login.factors.clock.now", lambda: later)
        act(second, "reset_second_factor", bob.user)
    assert factors.has_factor(bob.user)


def test_what_somebody_asked_for_who_keeps_no_accounts_any_more_resets_nothing() -> None:
    bob = Staff("bob", is_superuser=False).with_app()
    first, second = clerks()
    act(first, "reset_second_factor", bob.user)
    User.objects.filter(username="carol").update(is_active=False)
    assert "asked for" in act(second, "reset_second_factor", bob.user).text
    assert factors.has_factor(bob.user)


def test_nobody_resets_his_own_factor_with_a_colleagues_asking() -> None:
    boss, other = Staff("boss").with_app(), Staff("other").with_app()
    boss.log_in(), other.log_in()
    act(boss.browser, "reset_second_factor", other.user)
    act(other.browser, "reset_second_factor", other.user)
    assert factors.has_factor(other.user)
