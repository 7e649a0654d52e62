"""Sessions end an hour after the last request, and twelve hours after the log-in."""

import pytest

from tests.config.login.staff import Staff
from tests.support.api import Clock

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
