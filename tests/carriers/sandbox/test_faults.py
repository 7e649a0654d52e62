"""Every fault over real sockets: what the client gets, and whether the parcel is in the ledger."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import requests

from carriers.sandbox.faults import FAULTS
from tests.carriers.sandbox.orders import (
    TIMEOUT_S,
    arm,
    ledger,
    post,
)
from tests.carriers.sandbox.raw import buy, raw_answer

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer


CARRIERS = ("alpha", "beta")
CONTROL_ONLY = ("unfound", "accept")
MOST_DRIPPED = 2000  # bytes of an answer, of which a drop comes every 10 ms, until a busy machine has read the first


@pytest.mark.parametrize(
    ("carrier", "name", "is_made"),
    [(c, fault.name, fault.is_made) for fault in FAULTS for c in fault.carriers if fault.name not in CONTROL_ONLY],
)
def test_each_fault_leaves_a_purchase_as_its_row_says(
    sandbox: SandboxServer,
    carrier: str,
    name: str,
    is_made: bool,
) -> None:
    arm(sandbox, name, carrier=carrier, count=1, delay_s=0.001)

    raw_answer(sandbox, carrier, limit=1, silence_s=TIMEOUT_S)

    assert len(ledger(sandbox)) == is_made
    assert buy(sandbox, carrier).status_code == 200, "the count of 1 is used up"


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize(
    ("fault", "received"),
    [
        ("hang", b"SILENCE"),
        ("hangmade", b"SILENCE"),
        ("reset", b"RESET"),
        ("resetmade", b"RESET"),
        ("close", b""),
        ("closemade", b""),
        ("late", b""),
        ("slow", b"SILENCE"),
        ("accept", b"SILENCE"),
    ],
)
def test_a_connection_fails(sandbox: SandboxServer, carrier: str, fault: str, received: bytes) -> None:
    arm(sandbox, fault, count=1, delay_s=30)

    silence_s = 0.5 if received == b"SILENCE" else TIMEOUT_S
    assert raw_answer(sandbox, carrier, silence_s=silence_s) == received


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_hung_answer_ends_with_the_connection(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "hang", delay_s=0.05)

    assert raw_answer(sandbox, carrier, silence_s=TIMEOUT_S) == b""


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_slow_carrier_answers_in_the_end(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "slow", delay_s=0.1)
    started_at_s = time.monotonic()

    assert buy(sandbox, carrier).status_code == 200
    assert time.monotonic() - started_at_s >= 0.1


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_reset_breaks_off_what_waits_and_nothing_is_bought_afterwards(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "slow", delay_s=30, count=1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(raw_answer, sandbox, carrier, silence_s=TIMEOUT_S)
        while requests.get(f"{sandbox.control_url}/faults", timeout=TIMEOUT_S).json():
            threading.Event().wait(0.01)
        post(f"{sandbox.control_url}/reset")
        assert waiting.result() == b""
    assert ledger(sandbox) == []


@pytest.mark.parametrize("carrier", CARRIERS)
def test_headers_and_bodies_drip(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "driphead", delay_s=0.01, count=1)
    received = raw_answer(sandbox, carrier, limit=25, silence_s=TIMEOUT_S)
    assert received.startswith(b"HTTP/1.1 200 OK\r\nContent")
    assert len(received) < MOST_DRIPPED

    arm(sandbox, "dripbody", delay_s=0.01, count=1)
    head, body = raw_answer(sandbox, carrier, limit=1, silence_s=TIMEOUT_S).split(b"\r\n\r\n")
    assert b"Content-Length: " in head
    assert len(body) < MOST_DRIPPED


@pytest.mark.parametrize("carrier", CARRIERS)
def test_an_answer_breaks_off(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "cutoff", count=1)

    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        buy(sandbox, carrier)


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize(
    ("fault", "status"), [("empty", 200), ("html200", 200), ("html502", 502), ("html503", 503), ("made502", 502)]
)
def test_somebody_else_answers(sandbox: SandboxServer, carrier: str, fault: str, status: int) -> None:
    arm(sandbox, fault, count=1)

    response = buy(sandbox, carrier)

    assert response.status_code == status
    assert (response.content == b"") == (fault == "empty")
    assert fault == "empty" or response.headers["Content-Type"] == "text/html"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_redirect_goes_to_another_host_and_is_counted_when_followed(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "redirect")

    response = buy(sandbox, carrier, allow_redirects=False)

    assert response.status_code == 307
    assert urlsplit(response.headers["Location"]).hostname == "localhost"
    counts = f"{sandbox.control_url}/requests"
    assert "/redirected" not in requests.get(counts, timeout=TIMEOUT_S).json()
    assert buy(sandbox, carrier).status_code == 200
    assert requests.get(counts, timeout=TIMEOUT_S).json()["/redirected"] == 1
