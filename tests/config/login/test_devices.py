"""Known devices: whoever has logged in from a browser gets in there, whatever strangers do meanwhile."""

import pytest
from pytest_django.fixtures import Settings

from config.api.bodies import public_form_reads
from config.login import limits
from shops.api.concurrency import ConcurrencyLimit
from tests.config.login.staff import LOGIN, PASSWORD, Staff, give_password
from tests.support.api import Clock, Response, client

pytestmark = pytest.mark.django_db


def logged_out(ada: Staff) -> None:
    """Log in, and leave with the cookies of a known device."""
    ada.log_in()
    assert ada.browser.post("/admin/account/logout/").status_code == 302
    assert not ada.is_in()


def strangers(name: str, count: int, network: str = "10.{}.0.1") -> list[int]:
    return [
        give_password(client(), name, "wrong", REMOTE_ADDR=network.format(number)).status_code
        for number in range(count)
    ]


def test_ten_wrong_passwords_of_strangers_lock_no_known_device_out(ada: Staff, clock: Clock) -> None:
    logged_out(ada)
    clock.tick(30)
    assert strangers("ada", limits.OF_USER_NAME + 2)[-2:] == [429, 429]
    assert ada.give_password().status_code == 302
    assert ada.give_code(ada.code()).status_code == 302
    assert ada.is_in()
    assert give_password(client(), "ada", REMOTE_ADDR="203.0.113.9").status_code == 429


def test_nor_do_strangers_of_the_same_address(ada: Staff) -> None:
    logged_out(ada)
    for number in range(limits.OF_ADDRESS * limits.OF_PAGES + 1):
        client().get(LOGIN)
        give_password(client(), f"name{number}", "wrong")
    assert client().get(LOGIN).status_code == 429
    assert ada.browser.get(LOGIN).status_code == 200
    assert ada.give_password().status_code == 302


def test_nor_do_strangers_who_know_the_password_use_up_its_codes(ada: Staff, clock: Clock) -> None:
    logged_out(ada)
    clock.tick(30)
    thief = client()
    give_password(thief, "ada", REMOTE_ADDR="203.0.113.9")
    codes = [thief.post("/admin/account/code/", {"code": "000000"}).status_code for _ in range(limits.OF_CODES + 1)]
    assert codes[-1] == 429
    ada.give_password()
    assert ada.give_code(ada.code()).status_code == 302


def test_a_known_device_has_a_limit_of_its_own(ada: Staff, hashes: list[str]) -> None:
    logged_out(ada)
    hashes.clear()
    statuses = [ada.give_password("wrong").status_code for _ in range(limits.OF_DEVICE + 2)]
    assert statuses[-1] == 429
    assert len(hashes) <= limits.OF_DEVICE


def test_a_known_device_is_its_owners_and_counts_others_names_as_ever(ada: Staff) -> None:
    Staff("bob")
    logged_out(ada)
    strangers("bob", limits.OF_USER_NAME + 1)
    assert give_password(ada.browser, "bob", PASSWORD).status_code == 429


@pytest.mark.parametrize("cookie", ["", "x", "WyJhIiwiYWRhIl0:1:x"])
def test_a_cookie_that_we_did_not_sign_is_none(cookie: str, ada: Staff, settings: Settings) -> None:
    strangers("ada", limits.OF_USER_NAME + 1)
    ada.browser.cookies[settings.DEVICE_COOKIE_NAME] = cookie
    assert ada.give_password().status_code == 429


def test_a_cookie_has_no_password_and_is_no_session(ada: Staff, settings: Settings) -> None:
    logged_out(ada)
    cookie = ada.browser.cookies[settings.DEVICE_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    other = client()
    other.cookies[settings.DEVICE_COOKIE_NAME] = cookie.value
    assert other.get("/admin/").status_code == 302


@pytest.mark.parametrize("places", [limits.logins, public_form_reads])
def test_with_all_places_taken_a_known_device_gets_in(
    places: ConcurrencyLimit, ada: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged_out(ada)
    monkeypatch.setitem(places.taken, False, places.share)
    refused: Response = give_password(client(), "ada", REMOTE_ADDR="203.0.113.9")
    assert refused.status_code == 503
    assert ada.give_password().status_code == 302
    assert places.taken[True] == 0
