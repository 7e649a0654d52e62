"""Bodies: the largest size, and the cap on those that wait, which leaves threads whatever stalls."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from typing import Any, Never
from urllib.parse import urlencode

import orjson
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.exceptions import TooManyFieldsSent
from django.test import Client, RequestFactory

from config.api import bodies
from labels.models import ShippingLabel
from shops.api.errors.plain import BODY_TOO_LARGE, PLAIN_ERRORS
from shops.contracts.bulkhead import bulkhead
from shops.models import AccessToken, Shop
from shops.webhooks.models import WebhookEndpoint
from tests.labels.orders import order, post
from tests.support.api import UNKNOWN_PATH, Caller, Nobody, assert_error, client, forget, logged_in
from tests.support.paths import SEARCH, SHIPMENTS, TRACKING

TOO_BUSY = PLAIN_ERRORS["too_busy"].message
TOO_LARGE = PLAIN_ERRORS["body_too_large"].example_message()
MAX_UPLOAD_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
LARGE = b" " * (bodies.MAX_JSON_BYTES + 2)


@pytest.fixture
def body_reads(monkeypatch: pytest.MonkeyPatch) -> bodies.BodyReadLimit:
    """Put a fresh one, without a limit, in place of the process's own."""
    made = bodies.BodyReadLimit()
    monkeypatch.setattr(bodies, "body_reads", made)
    return made


@contextmanager
def all_held(body_reads: bodies.BodyReadLimit, *, threads: int, at_carriers: int = 0) -> Iterator[None]:
    """Take all places for bodies of a process with `threads` threads."""
    body_reads.limit(threads=threads)
    with ExitStack() as held:
        for _ in range(max(1, threads - bodies.SPARE_THREADS - at_carriers)):
            held.enter_context(body_reads.hold())
        yield


@pytest.mark.parametrize("threads", [1, 2, 3, 10])
def test_waiting_for_bodies_leaves_threads_for_other_requests(
    threads: int, own: Caller, body_reads: bodies.BodyReadLimit
) -> None:
    with all_held(body_reads, threads=threads):
        response = post(own, order())
        assert own.search(orderName="1").status_code == 200
    assert_error(response, 503, TOO_BUSY)
    assert response["Retry-After"] == "1"
    assert response["RateLimit"].startswith('"shop";r=99;')


def test_threads_of_label_requests_are_not_available_for_bodies(own: Caller, body_reads: bodies.BodyReadLimit) -> None:
    with ExitStack() as hanging:
        for carrier in ["alpha", "beta"] * settings.CARRIER_CONCURRENCY:
            hanging.enter_context(bulkhead.enter(carrier))
        with all_held(body_reads, threads=12, at_carriers=2 * settings.CARRIER_CONCURRENCY):
            assert_error(post(own, b"{"), 503, TOO_BUSY)
        assert post(own, b"{").status_code == 400


def test_a_place_is_released_when_the_body_is_read(own: Caller, body_reads: bodies.BodyReadLimit) -> None:
    body_reads.limit(threads=1)
    for body in (b"{", b"{}", b"[", LARGE):
        assert post(own, body).status_code in {400, 413}
    with pytest.raises(ZeroDivisionError), body_reads.hold():
        raise ZeroDivisionError
    with body_reads.hold():
        assert post(own, b"{").status_code == 503


def test_a_shop_takes_at_most_half_of_the_places(own: Caller, other: Caller, body_reads: bodies.BodyReadLimit) -> None:
    body_reads.limit(threads=10)
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(body_reads.hold(own.shop.id))
        assert_error(post(own, b"{"), 503, TOO_BUSY)
        assert post(other, b"{").status_code == 400
    assert post(own, b"{").status_code == 400


def test_a_request_refused_before_its_body_is_read_needs_no_place(
    own: Caller, nobody: Nobody, body_reads: bodies.BodyReadLimit
) -> None:
    with all_held(body_reads, threads=10):
        assert_error(nobody.request("POST", "/public/unknown", data=b"{}"), 404, UNKNOWN_PATH)
        assert nobody.request("POST", SHIPMENTS, data=b"{}").status_code == 401
        assert own.request("PUT", SHIPMENTS, data=b"{}").status_code == 405
        assert own.request("POST", SHIPMENTS, data=b"{}", content_type="text/plain").status_code == 415
        response = own.request("POST", SHIPMENTS, data=b"{}", headers={"Host": "elsewhere.example"})
        assert_error(response, 400, PLAIN_ERRORS["host_unknown"].message)


class Late(BytesIO):
    """A body that comes after something has happened."""

    def __init__(self, body: bytes, happens: Callable[[], object]) -> None:
        super().__init__(body)
        self.happens = happens

    def read(self, *args: Any) -> bytes:
        self.happens()
        forget()  # which takes two seconds
        return super().read(*args)


@pytest.mark.parametrize(
    "happens", [lambda: AccessToken.objects.all().revoke(), lambda: Shop.objects.update(is_active=False)]
)
@pytest.mark.parametrize("path", [SHIPMENTS, f"{SHIPMENTS}/check", f"{TRACKING}/webhooks"])
def test_a_body_that_comes_after_its_token_has_become_invalid_is_refused(
    path: str, happens: Callable[[], object], own: Caller
) -> None:
    body = orjson.dumps(order() | {"url": "https://93.184.215.14/hooks"})
    response = own.request("POST", path, CONTENT_TYPE="application/json", **sent(len(body), Late(body, happens)))
    assert_error(response, 401, PLAIN_ERRORS["token_invalid"].message)
    assert 'error="invalid_token"' in response["WWW-Authenticate"]
    assert not ShippingLabel.objects.exists()
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize(
    "happens",
    [
        lambda: User.objects.update(password="another"),
        lambda: User.objects.update(is_active=False),
        lambda: Session.objects.all().delete(),
    ],
)
def test_a_form_that_comes_after_its_sender_was_shut_out_is_refused(happens: Callable[[], object], own: Caller) -> None:
    browser, token = logged_in("change_accesstoken", "view_accesstoken"), AccessToken.objects.get()
    form = {"action": "revoke", "_selected_action": token.id, "is_confirmed": "1"}
    body = urlencode(form).encode()
    path, kind = "/admin/shops/accesstoken/", "application/x-www-form-urlencoded"
    response = browser.post(path, content_type=kind, **sent(len(body), Late(body, happens)))
    assert response["Location"] == f"/admin/login/?next={path}"
    token.refresh_from_db()
    assert token.revoked_at is None


class Unreadable(BytesIO):
    """A body that must not be read."""

    def read(self, *args: object) -> Never:
        raise AssertionError


def test_a_body_whose_announced_length_is_far_too_large_is_not_read(own: Caller, nobody: Nobody) -> None:
    announced: dict[str, Any] = {"CONTENT_LENGTH": "20000000", "wsgi.input": Unreadable()}
    response = own.request("POST", SHIPMENTS, CONTENT_TYPE="application/json", **announced)
    assert_error(response, 413, TOO_LARGE)
    assert response["Connection"] == "close"
    response = nobody.request(
        "POST", "/admin/account/login/", CONTENT_TYPE="multipart/form-data; boundary=x", **announced
    )
    said = BODY_TOO_LARGE.message.format(limit_bytes=bodies.MAX_FORM_BYTES, limit_kib=bodies.MAX_FORM_BYTES // 1024)
    assert (response.status_code, response.content.decode()) == (413, said)


@pytest.fixture(params=["nobody", "a forger", "no staff"])
def stranger(request: pytest.FixtureRequest, db: None) -> Client:
    """A browser that the admin does not let in."""
    browser = logged_in() if request.param == "no staff" else client()
    if request.param == "no staff":
        User.objects.update(is_staff=False)
    if request.param == "a forger":
        browser.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
    return browser


@pytest.mark.parametrize("path", ["/admin/", "/admin/parcels/parcel/", "/admin/unknown", "/admin/logout/"])
def test_a_strangers_form_is_not_read_except_to_log_in(path: str, stranger: Client) -> None:
    response = stranger.post(path, content_type="text/plain", **sent(1000, Unreadable()))
    assert (response.status_code, response["Connection"]) == (302, "close")
    assert response["Location"] == f"/admin/login/?next={path}"


def test_only_staff_may_send_a_large_form(stranger: Client) -> None:
    for browser, path in ((stranger, "/admin/login/"), (logged_in(name="bob"), "/admin/")):
        is_staff = path == "/admin/"
        for length, is_read in ((bodies.MAX_FORM_BYTES + 1, is_staff), (MAX_UPLOAD_BYTES + 1, False)):
            response = browser.post(path, content_type="text/plain", **sent(length, BytesIO(b" " * length)))
            limit_bytes = MAX_UPLOAD_BYTES if is_staff else bodies.MAX_FORM_BYTES
            said = f"The body has more than the {limit_bytes} bytes ({limit_bytes // 1024} KiB) that are read."
            assert (response.status_code == 413, response.content.decode() == said) == (not is_read, not is_read)
            assert response.get("Connection") == (None if is_read else "close")


def sent(length: int, body: BytesIO) -> dict[str, Any]:
    return {"CONTENT_LENGTH": str(length), "wsgi.input": body}


def test_forms_of_strangers_leave_places_for_orders(
    own: Caller, nobody: Nobody, body_reads: bodies.BodyReadLimit
) -> None:
    body_reads.limit(threads=20)
    with ExitStack() as held:
        for _ in range(bodies.public_form_reads.share):
            held.enter_context(bodies.public_form_reads.hold(owner=False))
        assert nobody.request("POST", "/admin/login/", data=b"username=a").status_code == 503
        assert post(own, b"{").status_code == 400
    assert nobody.request("POST", "/admin/login/", data=b"username=a").status_code != 503


@pytest.mark.parametrize("headers", [{}, {"HTTP_EXPECT": "100-continue"}])
def test_a_body_that_is_too_large_is_read_to_its_end_so_that_the_client_sees_the_answer(
    headers: dict[str, str], own: Caller
) -> None:
    body = BytesIO(b" " * 2_000_000)
    announced: dict[str, Any] = {"CONTENT_LENGTH": "2000000", "wsgi.input": body} | headers
    response = own.request("POST", SHIPMENTS, CONTENT_TYPE="application/json", **announced)
    assert_error(response, 413, TOO_LARGE)
    assert body.tell() == 2_000_000
    assert "Connection" not in response


def test_an_unread_body_closes_the_connection(own: Caller, nobody: Nobody) -> None:
    assert "Connection" not in post(own, b"{")
    assert "Connection" not in nobody.get("/public/unknown")
    for refused in (nobody.request("POST", SHIPMENTS, data=b"{}"), own.request("GET", SEARCH, data=b"{}")):
        assert refused["Connection"] == "close"


def test_a_page_is_refused_in_plain_words(nobody: Nobody, body_reads: bodies.BodyReadLimit) -> None:
    with all_held(body_reads, threads=10):
        response = nobody.request("POST", "/admin/account/login/", data=b"username=a")
        assert nobody.get("/admin/account/login/").status_code == 200
    assert (response.status_code, response["Content-Type"], response["Retry-After"]) == (503, "text/plain", "1")
    assert response.content.decode() == TOO_BUSY
    assert response["X-Request-Id"]


@pytest.mark.parametrize(
    "charset", ["utf-8", "latin-1", "utf-16", "hex", "undefined", "idna", "unicode_escape", "none"]
)
def test_a_query_is_utf_8_and_not_read_too_early_whatever_charset_is_named(charset: str) -> None:
    kind = {"CONTENT_TYPE": f"application/json; charset={charset}"}
    made = [RequestFactory().get(SEARCH, {"x": count * ["é"]}).environ | kind for count in (1, 10_001)]
    asked, too_long = map(bodies.Handler.request_class, made)
    assert asked.GET["x"] == "é"
    with pytest.raises(TooManyFieldsSent):
        _ = too_long.GET
