"""Two server processes on one PostgreSQL and one Redis, as in production."""

import json
import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.factories import import_parcel
from tests.support.http import Connection, ask
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.processes import Server, served
from tests.support.threads import in_threads
from tests.support.waiting import WAIT_TIMEOUT_S, until
from tests.support.windows import fresh_caller

pytestmark = pytest.mark.real_services


@pytest.fixture(scope="module")
def ports(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    """Two servers, each of one process, that several tests ask for what no other request changes."""
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as servers:
        yield [servers.enter_context(served(folder / f"server-{number}.log")).port for number in (1, 2)]


@pytest.fixture
def port(ports: list[int]) -> int:
    return ports[0]


@pytest.fixture
def own_server(django_db_setup: None, tmp_path: Path) -> Iterator[Server]:
    """A server whose log has no other test's requests."""
    with served(tmp_path / "log") as server:
        yield server


def test_of_300_requests_from_40_threads_to_2_processes_exactly_100_pass(
    ports: list[int], transactional_db: None
) -> None:
    caller = fresh_caller()
    number = import_parcel(caller.shop)["trackingId"]
    share = [300 // 40 + (thread < 300 % 40) for thread in range(40)]

    def ask(thread: int) -> list[tuple[int, int, str]]:
        clients = [Connection(port) for port in ports]
        answers = []
        for turn in range(share[thread]):
            process = (thread + turn) % 2  # in turns, so that both count about as many
            answer = clients[process].request("GET", PARCELS + number, headers=caller.bearer)
            answers.append((process, answer.status, answer.headers["ratelimit"]))
        for client in clients:
            client.close()
        return answers

    answers = [answer for answers in in_threads(40, ask) for answer in answers]
    assert len(answers) == 300
    assert Counter(status for _, status, _ in answers) == {200: 100, 429: 200}
    assert {process for process, status, _ in answers if status == 200} == {0, 1}
    # Each answer that passed shows another remaining count.
    rests = [int(re.findall(r"r=(\d+)", limit)[0]) for _, status, limit in answers if status == 200]
    assert sorted(rests) == list(range(100))


def test_a_token_that_is_not_ascii_was_sent_all_the_same(port: int) -> None:
    _, found, _ = ask(port, "GET", f"{SHIPMENTS}/1", [("Authorization", "Bearer pts_\xe9")])
    assert found["www-authenticate"].endswith(', error="invalid_token"')


def raw(port: int, request: bytes, *, is_all: bool = False) -> tuple[int, bytes]:
    """Send bytes as they are, and half-close the connection if `is_all`; return the status and the body."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_TIMEOUT_S) as connection:
        connection.sendall(request)
        if is_all:
            connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def test_unusual_requests_on_the_wire_are_answered_in_the_apis_shape(
    own_server: Server, transactional_db: None
) -> None:
    port, file = own_server.port, own_server.log
    caller = fresh_caller()
    parcel = import_parcel(caller.shop, trackingId="a/é b", customerEmail="some.one@example.com")
    token = caller.token.encode()

    def get(target: bytes, method: bytes = b"GET") -> tuple[int, bytes]:
        headers = b"Host: localhost\r\nAuthorization: Bearer " + token + b"\r\nConnection: close\r\n\r\n"
        return raw(port, method + b" " + target + b" HTTP/1.1\r\n" + headers)

    status, body = get(PARCELS.encode() + b"a%2F%C3%A9%20b")
    assert (status, json.loads(body)) == (200, parcel)
    status, body = get(SEARCH.encode() + b"?email=some.one%40example.com")
    assert (status, json.loads(body)) == (200, [parcel])
    targets = [b"%00", b"%FF%FE", b"x" * 10_000, b"%2E%2E%2Fsearch", b"%F0%9F%93%A6", b"a%0D%0AX-Injected:%201", b"%25"]
    for target in targets:
        status, body = get(PARCELS.encode() + target)
        assert status == 404, target
        assert json.loads(body)["statusCode"] == 404
    for query in (b"%00", b"%FF", b"orderName=%00", b"email=%ED%A0%80", b"a=1&" * 1100, b"orderName=" + b"x" * 10_000):
        status, body = get(SEARCH.encode() + b"?" + query)
        assert status in {200, 400}, query
        assert status == 200 or json.loads(body)["statusCode"] == 400
    assert get(SEARCH.encode(), b"HEAD") == (400, b"")
    assert get(SEARCH.encode(), b"DELETE")[0] == 405
    assert get(b"/public/unknown", b"BREW")[0] == 404

    requests = 2 + len(targets) + 6 + 3
    until(lambda: file.read_text().count('"logger":"service.request"') >= requests)  # lines come after their answers
    log = file.read_text()
    lines = [json.loads(text) for text in log.splitlines() if "service.request" in text]
    assert len(lines) == requests
    assert len({text["request_id"] for text in lines}) == len(lines)
    for hidden in (caller.token, "some.one", "xxxx", "Injected", "orderName", "é"):
        assert hidden not in log


def test_granians_own_refusals_are_those_of_the_guide(port: int) -> None:
    get, host, end = b"GET " + SEARCH.encode(), b" HTTP/1.1\r\nHost: localhost\r\n", b"\r\n"
    many = b"".join(b"X-%d: a\r\n" % number for number in range(100))
    assert raw(port, b"nonsense" + end + end) == (400, b"")
    assert raw(port, get + b"?email=" + b"x" * 2**16 + host + end) == (414, b"")
    assert raw(port, get + host + many + end) == (431, b"")
    assert raw(port, get + host + b"X: " + b"x" * 2**19 + end + end) == (431, b"")


@pytest.mark.parametrize(
    ("chunks", "kind", "status", "message"),
    [
        ([b'{"orderId":"1"', b"}"], b"application/json", 400, "carrierCode: is required."),
        ([], b"application/json", 400, "The body is empty. Send JSON."),
        ([b"{nope"], b"application/json", 400, "not valid JSON"),
        ([b" " * 2**19] * 3, b"application/json", 413, "64 KiB"),
        ([b"<a/>"], b"text/xml", 415, "Content-Type: application/json"),
    ],
    ids=["an order", "nothing", "broken", "too large", "XML"],
)
def test_a_body_in_chunks_is_read_like_any_other(
    chunks: list[bytes], kind: bytes, status: int, message: str, port: int, transactional_db: None
) -> None:
    token = fresh_caller().token.encode()
    head = f"POST {SHIPMENTS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ".encode() + token
    head += b"\r\nContent-Type: " + kind + b"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""])
    answer = raw(port, head + body)
    assert answer[0] == status
    assert message in json.loads(answer[1])["message"]
    assert "orderId" not in json.loads(answer[1])["message"]


def test_a_body_shorter_than_announced_is_400(port: int, transactional_db: None) -> None:
    token = fresh_caller().token.encode()
    head = f"POST {SHIPMENTS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ".encode() + token
    head += b"\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n"
    status, body = raw(port, head + b"{}", is_all=True)
    assert status == 400
    assert json.loads(body)["message"] == "The body is shorter than its Content-Length says."


def test_metrics_are_served_at_an_ipv6_address(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log", {"METRICS_HOST": "::1"}, with_metrics=True) as server:
        found = urlopen(f"http://[::1]:{server.metrics_port}/metrics", timeout=WAIT_TIMEOUT_S).read()
    assert b"service_info" in found
