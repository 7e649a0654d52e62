"""HTTP clients: one that reports every outcome, a lost connection too, and requests exactly as a test writes them."""

import json
import re
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

from tests.support.waiting import WAIT_TIMEOUT_S

ANSWER_TIMEOUT_S = 120
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """A client's view of one request; the status is 0 where the connection ended without an answer."""

    status: int
    headers: dict[str, str]
    content: bytes
    duration_s: float

    @property
    def body(self) -> Any:
        """The parsed JSON, or an empty object where the content is something else."""
        is_json = self.headers.get("content-type", "").startswith("application/json")
        return json.loads(self.content) if is_json else {}

    @property
    def outcome(self) -> str:
        """The status with the error's code; a replayed purchase is marked."""
        if not self.status:
            return "no answer"
        if self.status == 201:
            return "201 replayed" if "idempotent-replayed" in self.headers else "201"
        code = self.body.get("code", "") if isinstance(self.body, dict) else ""  # a search's is a list
        return f"{self.status} {code}".strip()


class Connection:
    """A keep-alive connection, opened again after a failure."""

    def __init__(self, port: int, timeout_s: float = ANSWER_TIMEOUT_S, host: str = "127.0.0.1") -> None:
        self._http = HTTPConnection(host, port, timeout=timeout_s)

    def request(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Send one request, with `body` as JSON unless it is text; it is never repeated."""
        content = body if body is None or isinstance(body, str) else json.dumps(body)
        sent = {"Content-Type": "application/json"} if content else {}
        status, received, text = 0, {}, b""
        started_s = time.monotonic()
        try:
            self._http.request(method, path, content, sent | (headers or {}))
            response = self._http.getresponse()
            text = response.read()
            status, received = response.status, {name.lower(): value for name, value in response.getheaders()}
        except (HTTPException, OSError):
            self.close()
        return Answer(status, received, text, time.monotonic() - started_s)

    def close(self) -> None:
        self._http.close()


class GetConnection:
    """A keep-alive connection for GET requests on a bare socket, which costs the driver little CPU time."""

    def __init__(self, port: int, token: str, timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        self.sent_at = 0.0
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nAccept: */*\r\n\r\n"
        self._received = b""

    def send(self, path: str) -> None:
        self._received, self.sent_at = b"", time.perf_counter()
        self.socket.sendall(f"GET {path} {self._head}".encode())

    def send_next(self, paths: Iterator[str]) -> bool:
        """Send the next request; return False if there is none."""
        path = next(paths, None)
        if path is not None:
            self.send(path)
        return path is not None

    def receive(self) -> bytes:
        """Read what has come; return the status once the answer, which has a Content-Length, is whole."""
        data = self.socket.recv(262_144)
        if not data:
            raise ConnectionError("closed")
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = CONTENT_LENGTH.search(head) if end else None
        return head[9:12] if length and len(body) >= int(length[1]) else b""

    def close(self) -> None:
        self.socket.close()


def call(port: int, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
    """Send one request over a connection of its own."""
    with closing(Connection(port)) as connection:
        return connection.request(method, path, body, headers)


def ask(
    port: int, method: str, path: str, headers: list[tuple[str, str]] | None = None, body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Send a request with exactly these headers over a connection of its own."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=WAIT_TIMEOUT_S)) as connection:
        response, content = exchange(connection, method, path, headers or [], body)
    return response.status, {name.lower(): value for name, value in response.getheaders()}, content


def exchange(
    connection: HTTPConnection, method: str, path: str, headers: Iterable[tuple[str, str]], body: bytes
) -> tuple[HTTPResponse, bytes]:
    """Send a request with exactly these headers, and read its answer."""
    sent = [*headers, ("Content-Length", str(len(body)))]
    connection.putrequest(method, path, skip_host=any(name == "Host" for name, _ in sent), skip_accept_encoding=True)
    for name, value in sent:
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    return response, response.read()


def metrics(port: int) -> dict[str, float]:
    """Return all samples that a port serves, by name and labels."""
    lines = ask(port, "GET", "/metrics")[2].decode().splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}
