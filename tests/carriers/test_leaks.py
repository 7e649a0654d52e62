"""A client raises only errors of its exception tree, whatever bytes it gets."""

import json
import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carriers.client import Limits
from carriers.errors import CarrierError, OutcomeUnknown
from carriers.http.transport import UnreadableError
from tests.carriers.support.pdfs import merged
from tests.carriers.support.servers import MULTIPART, XML, LoopbackServer, answer_file, http
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client, shipment

CLOSE = "Connection: close\r\n"  # each answer has a connection of its own
LIMITS = Limits(timeout_s=60, failure_threshold=10**9)
RECORDED = {
    "alpha": [answer_file(name) for name in ("alpha_1_parcels.xml", "alpha_refusal.xml", "alpha_fault.xml")],
    "beta": [answer_file(name) for name in ("beta_parcel_1.multipart", "beta_refusal.json")],
}
CONTENT_TYPES = st.sampled_from([XML, MULTIPART, "application/json", "text/html", "", "multipart/mixed"])
STATUSES = st.sampled_from([200, 200, 200, 201, 204, 301, 307, 400, 401, 404, 429, 500, 502, 503])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
ANSWER_KEYS = ["messages", "errors", "error", "message", "errorCode", "errorLabel", "labelV2Response", "id"]
many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


class World:
    """A server with a settable answer, and a client for each carrier."""

    def __init__(self) -> None:
        self.answer = b""
        self.server = LoopbackServer(self._play)
        self.clients = {carrier: client(carrier, self.server.url, LIMITS) for carrier in PRODUCT}

    def _play(self, stream: socket.socket, request: bytes) -> bool:
        stream.sendall(self.answer)
        return False

    def buy(self, carrier: str, answer: bytes) -> None:
        """Buy a label; check that it comes, or an error of an expected class."""
        self.answer = answer
        sent = len(self.server.requests)
        try:
            label = self.clients[carrier].create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
        except CarrierError as error:
            is_reading = (
                isinstance(error, OutcomeUnknown) and error.http_status is not None and error.is_carrier_failing
            )
            # A bug in reading an answer would look like an unknown outcome, with the bug as its cause.
            if is_reading and not isinstance(error.__cause__, UnreadableError | None):
                pytest.fail(f"{error.__cause__!r} while reading {answer!r}")
        else:
            assert merged(label).startswith(b"%PDF-")
        assert len(self.server.requests) == sent + 1


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    world = World()
    yield world
    world.server.close()


@BOTH
@many
@given(body=st.binary(max_size=300), status=STATUSES, content_type=CONTENT_TYPES)
def test_random_bytes_as_a_body(world: World, carrier: str, body: bytes, status: int, content_type: str) -> None:
    world.buy(carrier, http(body, status, content_type, CLOSE))


@BOTH
@many
@given(answer=st.binary(max_size=300))
def test_random_bytes_in_place_of_http(world: World, carrier: str, answer: bytes) -> None:
    world.buy(carrier, answer)


@BOTH
@many
@given(headers=st.binary(max_size=200), body=st.binary(max_size=50))
def test_random_bytes_as_headers(world: World, carrier: str, headers: bytes, body: bytes) -> None:
    world.buy(carrier, b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n\r\n" + body)


@BOTH
@many
@given(data=st.data(), status=STATUSES)
def test_real_answers_with_a_piece_replaced(world: World, carrier: str, data: st.DataObject, status: int) -> None:
    body = data.draw(st.sampled_from(RECORDED[carrier]))
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, min(len(body), start + 40)))
    piece = data.draw(st.binary(max_size=20))
    changed = body[:start] + piece + body[end:]
    world.buy(carrier, http(changed, status, MULTIPART if carrier == "beta" else XML, CLOSE))


@many
@given(document=st.dictionaries(st.sampled_from(ANSWER_KEYS), JSON), status=STATUSES)
def test_json_of_any_shape(world: World, document: dict[str, object], status: int) -> None:
    body = json.dumps(document).encode()
    world.buy("beta", http(body, status, "application/json", CLOSE))


@many
@given(text=st.text(max_size=60))
def test_any_text_where_an_error_code_belongs(world: World, text: str) -> None:
    escaped = "".join(char for char in text if char.isprintable() and char not in "<&")
    body = answer_file("alpha_refusal.xml").decode().replace("@CODE@", escaped).encode("utf-8", "replace")
    world.buy("alpha", http(body, headers=CLOSE))
