"""Limits of log-ins: what is beyond them costs no hash, and no answer tells the names that exist."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User

from config.login import backends, limits
from tests.config.login.staff import LOGIN, PASSWORD, Staff, give_password
from tests.support.api import Clock, Response, client

pytestmark = pytest.mark.django_db
FORM = b"login=nobody&password=wrong"


def attempt(number: int, name: str = "", **options: str) -> Response:
    return give_password(client(), name or f"name{number}", "wrong", **options)


def test_an_address_is_limited_before_a_hash(ada: Staff, hashes: list[str], clock: Clock) -> None:
    for number in range(limits.OF_ADDRESS):
        assert attempt(number).status_code == 200
    assert len(hashes) == limits.OF_ADDRESS
    refused = ada.give_password()
    assert refused.status_code == 429
    assert "Too many attempts" in refused.text
    assert "/static/unfold/css/styles.css" in refused.text
    assert len(hashes) == limits.OF_ADDRESS
    clock.tick(int(refused.headers["Retry-After"]))
    assert ada.give_password().status_code == 302


@pytest.mark.parametrize("network", ["192.0.2.{}", "2001:db8:1:{:x}::1"])
def test_a_network_is_limited_before_a_hash(network: str, hashes: list[str], clock: Clock) -> None:
    for number in range(limits.OF_NETWORK):
        assert attempt(number, REMOTE_ADDR=network.format(number)).status_code == 200
    assert attempt(61, REMOTE_ADDR=network.format(99)).status_code == 429
    assert len(hashes) == limits.OF_NETWORK
    assert attempt(62, REMOTE_ADDR="198.51.100.1").status_code == 200


def test_a_name_is_limited_before_a_hash_whether_it_exists_or_not(ada: Staff, hashes: list[str]) -> None:
    for name in ("ada", "nobody"):
        hashes.clear()
        statuses = [attempt(0, name, REMOTE_ADDR=f"10.0.{number}.1").status_code for number in range(12)]
        assert statuses == [200] * limits.OF_USER_NAME + [429] * 2
        assert len(hashes) == limits.OF_USER_NAME


@pytest.mark.parametrize(
    ("path", "field"), [("/admin/account/confirm/", "password"), ("/admin/password_change/", "old_password")]
)
def test_the_password_is_limited_where_it_is_asked_for_again(
    ada: Staff, hashes: list[str], path: str, field: str
) -> None:
    ada.log_in()
    for _ in range(limits.OF_DEVICE):  # the log-in made the device known
        assert ada.browser.post(path, {field: "wrong"}).status_code == 200
    hashes.clear()
    assert ada.browser.post(path, {field: PASSWORD}).status_code == 429
    assert hashes == []


def test_codes_are_limited(ada: Staff, clock: Clock) -> None:
    ada.give_password()
    for _ in range(limits.OF_CODES):
        assert "Incorrect code" in ada.give_code("000000").text
    assert ada.give_code(ada.code()).status_code == 429
    assert ada.give_code(ada.recovery_codes()[0]).status_code == 429
    clock.tick(limits.WINDOW_S)
    assert ada.give_code(ada.code()).status_code == 302


def test_unknown_inactive_and_other_users_get_the_answer_of_a_wrong_password(ada: Staff, hashes: list[str]) -> None:
    Staff("gone", is_active=False)
    Staff("client", is_staff=False)
    User.objects.create_user("machine", is_staff=True)  # without a password
    answers = set()
    for number, (name, password) in enumerate(
        [("ada", "wrong"), ("nobody", "wrong"), ("gone", PASSWORD), ("client", PASSWORD), ("machine", "wrong")]
    ):
        hashes.clear()
        text = give_password(client(), name, password, REMOTE_ADDR=f"10.0.{number}.1").text
        answers.add(re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text).replace(name, "NAME"))
        assert len(hashes) == 1, name  # which takes nearly all of the time
    assert len(answers) == 1
    assert "not correct" in answers.pop()


def test_one_password_is_hashed_at_a_time() -> None:
    hasher, is_free = backends.OneAtATimeHasher(), threading.Event()
    backends.thread.submit(is_free.wait)  # the hash of another
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(hasher.encode, password, "salt", 1) for password in "ab"]
        assert not wait(waiting, timeout=0.2).done
        is_free.set()
        assert len({encoded.result() for encoded in waiting}) == 2


def test_a_hash_that_waited_for_others_makes_nobody_wait_as_long() -> None:
    with ThreadPoolExecutor(1) as pool:
        began_s = time.monotonic()
        backends.thread.submit(threading.Event().wait, 1)  # the hash of another
        pool.submit(backends.OneAtATimeHasher().encode, "a", "salt", 1).result()
        waited_s = time.monotonic() - began_s
    backends.thread.submit(int).result()
    assert time.monotonic() - began_s < 1.5 * waited_s


def test_two_log_ins_are_let_in_at_a_time(ada: Staff, hashes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    inner: list[Response] = []

    def nested(request: object) -> None:  # each log-in begins another
        if len(inner) < 2:
            inner.append(ada.give_password())

    monkeypatch.setattr("config.login.backends.count_user_name", lambda *_: nested(None))
    assert ada.give_password().status_code == 302
    refused, let_in = sorted(inner, key=lambda answer: -answer.status_code)
    assert (refused.status_code, let_in.status_code) == (503, 302)
    assert refused.headers["Retry-After"] == "2"
    assert "Nothing was checked" in refused.text
    assert client().get(LOGIN).status_code == 200


def test_a_form_that_is_still_being_sent_takes_no_place(ada: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.login.limits.logins.share", 1)
    inner: list[int] = []

    class Slow(BytesIO):
        """A body during which another logs in."""

        def read(self, *args: Any) -> bytes:
            inner.append(0 if inner else ada.give_password().status_code)
            return super().read(*args)

    form: dict[str, Any] = {"wsgi.input": Slow(FORM), "CONTENT_LENGTH": str(len(FORM))}
    assert client().post(LOGIN, content_type="application/x-www-form-urlencoded", **form).status_code == 200
    assert inner[0] == 302
