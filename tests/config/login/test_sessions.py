"""Sessions end an hour after the last request, and twelve hours after the log-in."""

from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from shops.staff.audit.models import Action, AuditEntry
from tests.config.login.staff import CODE, LOGIN, Staff
from tests.support.api import Clock, logged_in
from tests.support.desk import give

pytestmark = pytest.mark.django_db
HOUR_S = 3600


def test_a_session_ends_after_an_hour_without_a_request(ada: Staff, clock: Clock) -> None:
    ada.log_in()
    clock.tick(HOUR_S - 61)
    assert ada.is_in()
    clock.tick(HOUR_S - 61)
    assert ada.is_in()
    clock.tick(HOUR_S + 1)
    assert not ada.is_in()


def test_a_session_ends_twelve_hours_after_the_log_in_though_it_is_used(ada: Staff, clock: Clock) -> None:
    ada.log_in()
    for _ in range(23):
        clock.tick(HOUR_S / 2)
        assert ada.is_in()
    clock.tick(HOUR_S / 2)
    assert not ada.is_in()
    assert "_auth_user_id" not in ada.browser.session


def test_a_session_of_unknown_age_ends(ada: Staff) -> None:
    ada.log_in()
    session = ada.browser.session
    del session["began_at"]
    session.save()
    assert not ada.is_in()


def test_the_cookie_ends_with_the_browser(ada: Staff) -> None:
    ada.log_in()
    cookie = ada.browser.cookies["sessionid"]
    assert (cookie["max-age"], cookie["httponly"], cookie["samesite"]) == ("", True, "Lax")


def test_who_is_no_longer_staff_is_out_at_once(ada: Staff) -> None:
    ada.log_in()
    ada.user.is_staff = False
    ada.user.save()
    assert not ada.is_in()


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}, {"password": make_password("new")}])
def test_a_log_in_that_waits_for_its_code_ends_with_the_account_or_its_password(
    change: dict[str, Any], ada: Staff
) -> None:
    assert ada.give_password().headers["Location"] == CODE
    User.objects.update(**change)
    assert ada.give_code(ada.code()).headers["Location"] == LOGIN
    assert not ada.is_in()
    assert not AuditEntry.objects.filter(action=Action.SIGNED_IN).exists()


@pytest.mark.parametrize("field", ["is_active", "is_staff"])
def test_who_is_deactivated_and_active_again_logs_in_anew(field: str, ada: Staff, clock: Clock) -> None:
    ada.log_in()
    keeper = logged_in(name="keeper", is_superuser=True)
    for chosen in ("", "on"):
        assert give(keeper, ada.user, **{field: chosen}).status_code == 302
        assert not ada.is_in()
    clock.tick(30)  # a code is taken once
    ada.log_in()
