"""Look-ups, which are handed over to threads of their own."""

import logging
import threading
from typing import Any
from unittest.mock import Mock

import pytest

from config.ops.look_up_pool import LOOK_UP_THREADS, handing_over, is_look_up
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.waiting import WAIT_TIMEOUT_S


class Protocol:
    """Takes a request's answer in granian's place."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.answered = threading.Event()

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.statuses.append(status)
        self.answered.set()


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", f"{PARCELS}6A1", True),
        ("HEAD", SEARCH, True),
        ("POST", SEARCH, False),
        ("GET", f"{SHIPMENTS}/1", False),
        ("POST", SHIPMENTS, False),
        ("GET", "/admin/", False),
        ("GET", "/livez", False),
    ],
)
def test_only_what_reads_parcels_is_a_look_up(method: str, path: str, *, expected: bool) -> None:
    assert is_look_up({"REQUEST_METHOD": method, "PATH_INFO": path}) is expected


LOOK_UP = {"REQUEST_METHOD": "GET", "PATH_INFO": f"{PARCELS}6A1"}
ORDER = {"REQUEST_METHOD": "POST", "PATH_INFO": SHIPMENTS}


def test_look_ups_run_in_two_threads_and_everything_else_where_it_is_called() -> None:
    threads = {"GET": set[int](), "POST": set[int]()}

    def answer(protocol: Any, environ: dict[str, Any]) -> None:
        threads[environ["REQUEST_METHOD"]].add(threading.get_ident())
        protocol.response_bytes(200, [], b"")

    handle = handing_over(answer)
    protocols = [Protocol() for _ in range(20)]
    for protocol in protocols:
        handle(protocol, LOOK_UP)
    handle(Protocol(), ORDER)
    assert all(protocol.answered.wait(WAIT_TIMEOUT_S) for protocol in protocols)
    assert len(threads["GET"]) <= LOOK_UP_THREADS
    assert threads["POST"] == {threading.get_ident()}
    assert threads["GET"].isdisjoint(threads["POST"])


def test_a_look_up_that_fails_is_logged_and_answered_and_its_thread_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    handle = handing_over(Mock(side_effect=RuntimeError("secret")))
    protocols = [Protocol() for _ in range(2 * LOOK_UP_THREADS)]
    with caplog.at_level(logging.ERROR, "service.request"):
        for protocol in protocols:
            handle(protocol, LOOK_UP)
            assert protocol.answered.wait(WAIT_TIMEOUT_S)
    assert [protocol.statuses for protocol in protocols] == [[500]] * len(protocols)
    assert {record.message for record in caplog.records} == {"request failed"}
