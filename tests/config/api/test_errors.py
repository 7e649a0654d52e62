"""The one error shape, on every failure under /public/."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import product
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection
from pytest_django.fixtures import Settings

from shops.api.errors.plain import PLAIN_ERRORS
from tests.support.api import UNKNOWN_PATH, Caller, Clock, Nobody, assert_error
from tests.support.cases import in_one_test
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS, TRACKING, VERSION

UNEXPECTED = PLAIN_ERRORS["unexpected"].message

LABEL = f"{SHIPMENTS}/0000000000ABCDE"
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "X" * 100]
UNKNOWN_PATHS = [
    *("/public/", "/public//", VERSION, f"{VERSION}/", TRACKING, f"{TRACKING}/", f"{TRACKING}/parcels"),
    *(PARCELS, f"{PARCELS}a/", f"{SEARCH}/", f"{TRACKING}/Search", "/public/v2/tracking/search"),
    *(f"{VERSION}//tracking/search", "/public/admin/", "/public/../admin/", "/public/%00", "/public/%FF%FE"),
    *("/public/" + "x" * 10_000, f"{SEARCH}%0A", "/public/\u00e9", f"{SEARCH}x", f"{SEARCH}/x", f"{SEARCH}//"),
    *(f"{SEARCH}%2F", f"{SEARCH}/?orderName=1", f"{PARCELS}a//", f"{PARCELS}a%2F", f"{PARCELS}a/?orderName=1"),
    *(f"{SHIPMENTS}/", f"{LABEL}/", f"{LABEL}/pdf", f"{TRACKING}/Shipments", f"{VERSION}/shipments"),
]

STRANGE_HOSTS = ["evil.example", "a b", "", "testserver:port", "[::1", "testserver@evil.example"]


@pytest.fixture(params=[False, True], ids=["debug off", "debug on"])
def debug(request: pytest.FixtureRequest, settings: Settings) -> None:
    """Run the test with DEBUG off and on: Django's own pages tell a lot with it on."""
    settings.DEBUG = request.param


@contextmanager
def broken_database() -> Iterator[None]:
    """Fail every statement, with a text that says what no client must read."""
    said = "connection to server at 10.0.0.7 failed for user tracking, DETAIL: (a@example.com)"
    with connection.execute_wrapper(Mock(side_effect=OperationalError(said))):
        yield


def assert_tells_nothing(text: str) -> None:
    for internal in ("10.0.0.7", "OperationalError", "Traceback", "a@example.com", "SELECT", "django", ".py"):
        assert internal not in text


@in_one_test("path", UNKNOWN_PATHS)
def test_an_unknown_path_is_404_for_everyone(path: str, debug: None, own: Caller, nobody: Nobody) -> None:
    for caller in (own, nobody):
        for method in METHODS:
            assert_error(caller.request(method, path), 404, UNKNOWN_PATH)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{", "application/json"),
        (b"\xff\0", "application/json"),
        (b"<a/>", "text/xml"),
        (b"x" * 3_000_000, ""),
        (b"a", "\xff"),
    ],
)
def test_a_body_where_none_belongs_changes_nothing(body: bytes, content_type: str, own: Caller) -> None:
    assert_error(own.request("POST", SEARCH, data=body, content_type=content_type), 405)
    assert_error(own.request("GET", SEARCH, data=body, content_type=content_type), 400)


@pytest.mark.parametrize("path", [PARCELS + "N1", SEARCH + "?orderName=1"])
@pytest.mark.parametrize("is_in_view", [True, False], ids=["in the view", "in authentication"])
def test_an_unexpected_failure_tells_nothing(
    path: str, is_in_view: bool, debug: None, own: Caller, clock: Clock
) -> None:
    if is_in_view:
        own.get(SEARCH)  # the token is remembered, so that the view itself meets the failure
    with broken_database():
        response = own.get(path)
    assert_error(response, 500, UNEXPECTED)
    assert_tells_nothing(response.content.decode())
    assert response.get("RateLimit", "").startswith('"shop";') == is_in_view


@pytest.mark.parametrize("path", [SEARCH, "/files/labels/2026/11/1"])
def test_a_failure_outside_of_every_view_has_the_same_shape(
    path: str, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.api.middleware.resolve", Mock(side_effect=RuntimeError("10.0.0.7")))
    assert_error(own.get(path), 500, UNEXPECTED)


def test_an_unexpected_failure_is_logged_with_its_request(own: Caller, caplog: pytest.LogCaptureFixture) -> None:
    with broken_database():
        own.get(PARCELS + "N1")
    record = next(record for record in caplog.records if record.name == "service.errors")
    assert record.levelname == "ERROR"
    assert record.exc_info


@in_one_test("host, path", product(STRANGE_HOSTS, [PARCELS + "N1", SEARCH, "/public/unknown"]))
def test_a_host_that_is_not_served_is_400(host: str, debug: None, path: str, own: Caller, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    response = own.get(path, headers={"Host": host})
    assert_error(response, 400)
    assert "evil" not in response.content.decode()
    assert "X-Request-Id" in response.headers


def test_the_time_of_an_error_is_now_in_utc(nobody: Nobody) -> None:
    at = datetime.fromisoformat(nobody.get(SEARCH).json()["timestamp"])
    assert at.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)
