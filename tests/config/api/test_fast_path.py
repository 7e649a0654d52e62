"""The fast path answers as Django does, and answers nothing but ordinary requests that succeed."""

import time
import tracemalloc
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.cache import caches
from django.test.client import ClientHandler, RequestFactory
from prometheus_client import REGISTRY
from pytest_django.fixtures import DjangoAssertNumQueries, Settings

from config.api import fast_path
from config.ops.serving import MAX_HEAD_BYTES
from tests.support.api import Caller
from tests.support.factories import import_parcel
from tests.support.paths import PARCELS, SEARCH

NUMBER, ORDER, EMAIL = "6A18523767336", "#1450", "ada@example.com"
ORDINARY = [
    PARCELS + NUMBER,
    f"{PARCELS}{NUMBER}?anything=1",
    f"{SEARCH}?orderName=%231450",
    f"{SEARCH}?orderName=%231450&email=ada%40example.com",
    f"{SEARCH}?email=ada@example.com&orderName=&other=1",
    f"{SEARCH}?email=nobody&email=ada@example.com",
    f"{SEARCH}?orderName=%00",
    f"{SEARCH}?orderName=%ff%C3",
    f"{SEARCH}?orderName=a+b",
]
# A path, and what makes it out of the ordinary.
OTHERS: list[tuple[str, dict[str, Any]]] = [
    (PARCELS + "absent", {}),
    (PARCELS + NUMBER + "/", {}),
    (PARCELS + "REF%2F7", {}),
    (PARCELS + "colis%20", {}),
    (PARCELS, {}),
    (SEARCH, {}),
    (SEARCH + "/?orderName=1", {}),
    (SEARCH + "?orderName=", {}),
    (SEARCH + "?orderName=" + "1" * 500, {}),
    (PARCELS + NUMBER, {"REQUEST_METHOD": "HEAD"}),
    (PARCELS + NUMBER, {"REQUEST_METHOD": "POST"}),
    (PARCELS + NUMBER, {"CONTENT_LENGTH": "2"}),
    (PARCELS + NUMBER, {"HTTP_TRANSFER_ENCODING": "chunked"}),
    (PARCELS + NUMBER, {"HTTP_HOST": "evil.example.com"}),
    (PARCELS + NUMBER, {"HTTP_AUTHORIZATION": ""}),
    (PARCELS + NUMBER, {"HTTP_AUTHORIZATION": "Bearer pts_unknown"}),
]


@pytest.fixture
def asker(own: Caller) -> Caller:
    """A shop with a parcel, whose token was valid in this process."""
    import_parcel(own.shop, trackingId=NUMBER, orderNumber=ORDER, customerEmail=EMAIL)
    assert own.look_up(NUMBER).status_code == 200
    return own


def environ(asker: Caller, path: str, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = RequestFactory().get(path, HTTP_AUTHORIZATION=f"Bearer {asker.token}").environ
    return {name: value for name, value in (made | changes).items() if value != ""}


def without_id(headers: Any) -> dict[str, str]:
    return {name: value for name, value in dict(headers).items() if name != "X-Request-Id"}


@pytest.mark.parametrize("path", ORDINARY)
def test_status_headers_and_body_are_those_of_django(path: str, asker: Caller) -> None:
    found = fast_path.answer_to(environ(asker, path))
    caches["default"].clear()
    asked: Any = ClientHandler(enforce_csrf_checks=False)(environ(asker, path))
    assert found is not None
    assert asked.status_code == 200
    assert found[1] == asked.content
    remaining = "RateLimit"
    fast, slow = without_id(found[0]), without_id(asked.items())
    assert fast.pop(remaining).partition(";t=")[0] != slow.pop(remaining).partition(";t=")[0]  # both were counted
    assert fast == slow


@pytest.mark.parametrize(("path", "changes"), OTHERS)
def test_all_else_is_left_to_django(path: str, changes: dict[str, Any], asker: Caller) -> None:
    assert fast_path.answer_to(environ(asker, path, **changes)) is None


def test_what_it_answers_is_counted(asker: Caller) -> None:
    def answers() -> float:
        return REGISTRY.get_sample_value("fast_path_answers_total", {"route": "parcel"}) or 0

    before = answers()
    assert [asker.look_up(number).status_code for number in (NUMBER, "absent")] == [200, 404]
    assert answers() == before + 1


def test_over_https_answers_say_so_and_http_is_left_to_django(asker: Caller, settings: Settings) -> None:
    settings.HTTPS, settings.SECURE_HSTS_SECONDS = True, 60
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    fast_path.headers_of.cache_clear()
    assert fast_path.answer_to(environ(asker, PARCELS + NUMBER)) is None
    found = fast_path.answer_to(environ(asker, PARCELS + NUMBER, HTTP_X_FORWARDED_PROTO="https"))
    assert found is not None
    assert "Strict-Transport-Security" in dict(found[0])


def test_a_request_that_goes_on_to_django_is_counted_once(asker: Caller) -> None:
    first, second = asker.look_up(NUMBER), asker.look_up("absent")
    assert remaining(second) == remaining(first) - 1


def test_a_number_that_is_not_found_asks_the_database_once(
    asker: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        assert asker.look_up("absent").status_code == 404


def test_a_request_that_goes_on_to_django_has_taken_its_time_here_too(
    asker: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def find(**names: str) -> None:
        time.sleep(0.06)

    caplog.set_level("INFO", logger="service.request")
    monkeypatch.setattr("parcels.queries.find", find)
    assert asker.look_up("absent").status_code == 404
    assert vars(caplog.records[-1])["duration_ms"] >= 60


@pytest.mark.parametrize(("path", "route"), [(PARCELS + NUMBER, "parcel"), (f"{SEARCH}?orderName=1", "parcel-search")])
def test_a_failure_is_counted_and_logged_and_django_answers(
    path: str, route: str, asker: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fast_path, "found_for_shop", Mock(side_effect=RuntimeError))
    before = REGISTRY.get_sample_value("fast_path_failures_total", {"route": route}) or 0
    assert asker.get(path).status_code == 200
    assert REGISTRY.get_sample_value("fast_path_failures_total", {"route": route}) == before + 1
    failed = [record for record in caplog.records if record.message == "fast path failed"]
    assert [(record.levelname, vars(record)["route"]) for record in failed] == [("ERROR", route)]


def test_a_limit_that_is_used_up_is_djangos_to_tell(asker: Caller, settings: Settings) -> None:
    settings.RATE_LIMIT = (2, 60)
    assert [asker.look_up(NUMBER).status_code for _ in range(3)] == [200, 200, 429]


def test_what_strangers_claim_to_have_called_takes_little_memory() -> None:
    fast_path.headers_of.cache_clear()
    tracemalloc.start()
    try:
        for number in range(1000):
            fast_path.headers_of(f"{number}".rjust(MAX_HEAD_BYTES, "h"), None, None, None, None)
        kept_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        fast_path.headers_of.cache_clear()
    assert kept_bytes < 10_000_000


def remaining(response: Any) -> int:
    return int(response["RateLimit"].partition("r=")[2].partition(";")[0])
