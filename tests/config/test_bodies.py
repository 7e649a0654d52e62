"""How many requests with a body may be under way: one less than there are threads, so that others are answered."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from config import bodies
from config.error_catalogue import PLAIN_ERRORS
from tests.conftest import UNKNOWN_PATH, Caller, Nobody, assert_error
from tests.labels.orders import SHIPMENTS, order, post

TOO_BUSY = PLAIN_ERRORS["too_busy"].message


@contextmanager
def all_places_held(*, threads: int) -> Iterator[None]:
    """Serve with so many threads, as many of which wait for bodies as may."""
    places = bodies.Places()
    places.limit(threads=threads)
    with ExitStack() as held, pytest.MonkeyPatch.context() as patch:
        for _ in range(max(1, threads - 1)):
            held.enter_context(places.hold())
        patch.setattr(bodies, "places", places)
        yield


@pytest.mark.parametrize("threads", [1, 2, 10])
def test_no_more_bodies_are_waited_for_than_leave_a_thread(threads: int, own: Caller) -> None:
    with all_places_held(threads=threads):
        response = post(own, order())
        assert own.search(orderName="1").status_code == 200
    assert_error(response, 503, TOO_BUSY)
    assert response["Retry-After"] == "1"


def test_a_place_is_given_back_whatever_came_of_its_request(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    places = bodies.Places()
    places.limit(threads=2)
    monkeypatch.setattr(bodies, "places", places)
    for body in (b"{", b"{}", b"[", b" " * (2**20 + 1)):
        assert post(own, body).status_code in {400, 413}
    with pytest.raises(ZeroDivisionError), places.hold():
        raise ZeroDivisionError
    with places.hold():
        assert post(own, b"{").status_code == 503


@pytest.mark.parametrize(
    ("length", "status"), [("", 404), ("0", 404), ("1", 503), ("00", 503), ("5, 5", 503), ("-", 503)]
)
def test_a_body_is_what_is_announced_as_one(length: str, status: int, nobody: Nobody) -> None:
    with all_places_held(threads=2):
        response = nobody.request("POST", "/public/unknown", CONTENT_LENGTH=length)
    assert_error(response, status, {404: UNKNOWN_PATH, 503: TOO_BUSY}[status])


def test_a_wrong_host_is_refused_before_its_body_needs_a_place(own: Caller) -> None:
    with all_places_held(threads=2):
        response = own.request("POST", SHIPMENTS, data=b"{}", headers={"Host": "elsewhere.example"})
    assert_error(response, 400, PLAIN_ERRORS["host_unknown"].message)


def test_a_page_is_refused_in_plain_words(nobody: Nobody) -> None:
    with all_places_held(threads=2):
        response = nobody.request("POST", "/admin/login/", data=b"username=a")
    assert (response.status_code, response["Content-Type"], response["Retry-After"]) == (503, "text/plain", "1")
    assert response.content.decode() == TOO_BUSY
    assert response["X-Request-Id"]
