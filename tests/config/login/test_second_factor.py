"""The log-in: a password alone reaches nothing, and each code is taken once."""

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.core.cache import cache
from django.urls import get_resolver
from pytest_django.fixtures import Settings

from config.login import factors
from config.login.forms import TOTPForm
from config.login.urls import urlpatterns
from shops.staff.audit.models import AuditEntry
from tests.config.login.staff import CODE, FACTORS, LOGIN, Staff, give_password
from tests.config.test_admin import admin_paths
from tests.labels.gates import during
from tests.shops.commands import call, refused
from tests.support.api import Clock, client, logged_in
from tests.support.desk import FRENCH

pytestmark = pytest.mark.django_db


def test_the_admin_asks_for_the_password_then_for_the_code(ada: Staff) -> None:
    first = ada.browser.get("/admin/", follow=True)
    assert first.redirect_chain[-1][0] == f"{LOGIN}?next=%2Fadmin%2F"
    assert ada.give_password().headers["Location"] == CODE
    assert not ada.is_in()
    assert ada.give_code(ada.code()).headers["Location"] == "/admin/"
    assert ada.is_in()


def test_a_password_alone_reaches_no_page(db: None) -> None:
    newcomer = Staff("bob")
    assert newcomer.give_password().headers["Location"] == "/admin/"
    pages = [path for path in admin_paths() if "login" not in path and "logout" not in path]
    assert len(pages) > 30
    for path in pages:
        for method in ("get", "post"):
            answer = getattr(newcomer.browser, method)(path)
            assert (answer.status_code, answer.headers["Location"]) == (302, FACTORS), path
        stranger = client().get(path)
        assert stranger.headers.get("Location", "").startswith("/admin/login/"), (path, stranger.status_code)


def test_a_newcomer_sets_up_an_app_and_is_in(clock: Clock, transactional_db: None) -> None:
    newcomer = Staff("bob")
    newcomer.give_password()
    page = newcomer.browser.get(f"{FACTORS}app/add/").text
    newcomer.secret = re.findall(r'id="authenticator_secret" readonly value="(\w+)"', page)[0]
    assert "<svg" in page
    answer = newcomer.browser.post(f"{FACTORS}app/add/", {"code": newcomer.code()}, follow=True)
    assert all(code in answer.text for code in newcomer.recovery_codes())
    assert newcomer.is_in()
    row = Authenticator.objects.get(user=newcomer.user, type="totp")
    assert newcomer.secret not in str(row.data)
    newcomer.browser = client()
    newcomer.give_password()
    newcomer.give_code(newcomer.code())  # the code that the app was set up with
    assert not newcomer.is_in()


def test_an_app_that_is_set_up_by_a_double_click_is_set_up_once(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    newcomer = Staff("bob")
    newcomer.give_password()
    page = newcomer.browser.get(f"{FACTORS}app/add/").text
    newcomer.secret = re.findall(r'id="authenticator_secret" readonly value="(\w+)"', page)[0]
    during(monkeypatch, TOTPForm, "clean_code", after=lambda _: newcomer.with_app())
    answer = newcomer.browser.post(f"{FACTORS}app/add/", {"code": newcomer.code()})
    assert (answer.status_code, answer.headers["Location"]) == (302, FACTORS)
    assert Authenticator.objects.filter(user=newcomer.user, type="totp").count() == 1


def test_a_session_of_the_password_alone_ends_when_another_sets_up_a_factor(db: None) -> None:
    owner, thief = Staff("ada"), client()
    give_password(thief, "ada")
    owner.with_app()
    assert thief.get(f"{FACTORS}passkeys/add/").headers["Location"] == LOGIN
    assert "_auth_user_id" not in thief.session


def test_a_code_is_taken_once_by_all_processes(ada: Staff, clock: Clock) -> None:
    used = ada.code()
    ada.log_in()
    cache.clear()  # what this process remembers
    ada.browser = client()
    ada.give_password()
    assert "Incorrect code" in ada.give_code(used).text
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor, entry.details) == ("sign_in_failed", "ada", {"reason": "totp"})
    earlier = ada.code(-1)
    assert "Incorrect code" in ada.give_code(earlier).text
    clock.tick(30)
    assert ada.give_code(ada.code()).status_code == 302
    assert ada.is_in()


def test_clocks_may_differ_by_one_period(ada: Staff) -> None:
    ada.give_password()
    assert "Incorrect code" in ada.give_code(ada.code(2)).text
    assert "Incorrect code" in ada.give_code(ada.code(-2)).text
    assert ada.give_code(ada.code(-1)).status_code == 302


def test_a_recovery_code_is_valid_once(ada: Staff) -> None:
    code = ada.recovery_codes()[0]
    for is_taken in (True, False):
        ada.browser = client()
        ada.give_password()
        ada.give_code(code)
        assert ada.is_in() is is_taken
    assert len(ada.recovery_codes()) == 9


def test_of_the_codes_that_are_left_one_is_counted_as_one(ada: Staff) -> None:
    ada.log_in()
    page = f"{FACTORS}codes/new/"
    assert "The 10 codes that are left become invalid." in ada.browser.get(page).text
    row = Authenticator.objects.get(type=Authenticator.Type.RECOVERY_CODES)
    for code in ada.recovery_codes()[1:]:
        assert RecoveryCodes(row).validate_code(code)
    assert "The 1 code that is left becomes invalid." in ada.browser.get(page).text
    assert "Le code restant devient invalide." in ada.browser.get(page, headers=FRENCH).text


def test_who_removes_the_last_factor_is_led_to_set_one_up(ada: Staff) -> None:
    ada.log_in()
    assert ada.browser.post(f"{FACTORS}app/remove/").status_code == 302
    assert ada.browser.get("/admin/").headers["Location"] == FACTORS


def test_factors_are_changed_soon_after_the_log_in_or_after_a_confirmation(ada: Staff, clock: Clock) -> None:
    ada.log_in()
    assert ada.browser.get(f"{FACTORS}codes/").status_code == 200
    clock.tick(301)
    for page in ("codes/", "codes/new/", "codes/download/", "app/remove/", "passkeys/add/"):
        assert ada.browser.get(FACTORS + page).headers["Location"].startswith("/admin/account/confirm/?next="), page
    ada.browser.post("/admin/account/confirm/", {"password": "wrong"})
    assert ada.browser.get(f"{FACTORS}codes/").status_code == 302
    ada.browser.post("/admin/account/confirm/code/", {"code": ada.code()})
    assert ada.browser.get(f"{FACTORS}codes/").status_code == 200


def test_without_the_setting_a_password_suffices(settings: Settings, db: None) -> None:
    settings.ADMIN_MFA_REQUIRED = False
    newcomer = Staff("bob")
    newcomer.give_password()
    assert newcomer.is_in()


def test_no_other_page_of_allauth_is_served() -> None:
    served = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    ours = {str(entry.name) for entry in urlpatterns}
    assert {name for name in served if name.startswith(("account_", "mfa_", "sign_on"))} == ours
    for page in ("signup", "password/reset", "email", "inactive", "password/change"):
        assert client().get(f"/admin/account/{page}/", follow=True).redirect_chain[-1][0].startswith(LOGIN)


def test_pages_have_the_look_of_the_admin(ada: Staff) -> None:
    login = ada.browser.get(LOGIN)
    ada.give_password()
    code = ada.browser.get(CODE)
    ada.give_code(ada.code())
    pages = [ada.browser.get(FACTORS + page) for page in ("", "codes/", "codes/new/", "app/remove/", "passkeys/add/")]
    pages += [ada.browser.get(f"/admin/account/confirm/{page}") for page in ("", "code/")]
    for answer in (login, code, *pages):
        assert answer.status_code == 200
        assert "/static/unfold/css/styles.css" in answer.text
        assert "no-store" in answer.headers["Cache-Control"]


def test_the_name_of_a_passkey_is_asked_for_in_french(ada: Staff) -> None:
    ada.log_in()
    adding = ada.browser.get(f"{FACTORS}passkeys/add/", headers=FRENCH)
    key = Authenticator.objects.create(user=ada.user, type=Authenticator.Type.WEBAUTHN, data={"name": "YubiKey"})
    renaming = ada.browser.get(f"{FACTORS}passkeys/{key.pk}/edit/", headers=FRENCH)
    for page in (adding, renaming):
        assert re.findall(r"<label[^>]*>([^<]+)", page.text) == ["Nom"]


# --- A lost factor ---


def test_a_reset_ends_sessions_and_leads_to_a_new_factor(ada: Staff) -> None:
    ada.log_in()
    other = logged_in(name="bob")
    assert factors.reset(ada.user) == 1
    assert not ada.is_in()
    assert other.get("/admin/").status_code == 200
    assert ada.give_password().headers["Location"] == "/admin/"
    assert ada.browser.get("/admin/").headers["Location"] == FACTORS


def test_the_command_resets_a_factor(ada: Staff) -> None:
    assert call("reset_second_factor", "ada") == ("1\n", "")
    assert not factors.has_factor(ada.user)
    assert refused("reset_second_factor", "nobody") == "USERNAME: there is no such user"


def test_staff_who_may_change_users_reset_a_factor_but_no_superusers(ada: Staff) -> None:
    colleague = Staff("bob", is_superuser=False).with_app()
    clerks = [logged_in("change_user", "view_user", name=name) for name in ("clerk", "carol")]
    viewer = logged_in("view_user", name="viewer")
    selected = {"action": "reset_second_factor", "_selected_action": [ada.user.pk, colleague.user.pk]}
    viewer.post("/admin/auth/user/", selected)
    assert factors.has_factor(colleague.user)
    for clerk in clerks:
        clerk.post("/admin/auth/user/", selected)
    assert not factors.has_factor(colleague.user)
    assert factors.has_factor(ada.user)
    history = clerks[0].get(f"/admin/auth/user/{colleague.user.pk}/history/").text
    assert "Second factor reset" in history


def test_the_list_of_users_shows_who_has_a_factor(ada: Staff) -> None:
    Staff("bob")
    ada.log_in()
    listed = ada.browser.get("/admin/auth/user/").context["cl"].result_list
    assert {user.username: user.has_factor for user in listed} == {"ada": True, "bob": False}
