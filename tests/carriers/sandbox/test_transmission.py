"""Network faults over real sockets: silence, resets, drips, cuts and floods."""

import pytest
import requests

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.control import TIMEOUT_S, arm
from tests.carriers.sandbox.raw import CARRIERS, buy, raw_answer

MOST_DRIPPED = 2000  # bytes; one is sent every 10 ms until a busy machine has read the first


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
def test_fifty_megabytes_are_streamed(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "huge", count=1)

    with buy(sandbox, carrier, stream=True) as response:
        received = sum(len(piece) for piece in response.iter_content(1_000_000))

    assert response.headers["Transfer-Encoding"] == "chunked"
    assert response.headers["Connection"] == "close"  # or the next request might meet the end of the connection
    assert received > 49_000_000
