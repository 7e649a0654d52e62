"""One HTTP request and its response, as plain data."""

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

Transmission = Callable[["Response", socket.socket, "Wait"], None]
Wait = Callable[[float], bool]  # for that many seconds; true when the sandbox is reset or closed meanwhile


@dataclass(frozen=True)
class Request:
    server_url: str  # scheme, host and port of the sandbox
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]  # keys in lower case
    body: bytes

    @property
    def operation(self) -> str:
        """The last part of the path, of beta's services."""
        return self.path.rpartition("/")[2]


def whole(response: "Response", connection: socket.socket, _: Wait) -> None:
    """Send all at once: head and body apart would wait for each other's acknowledgement."""
    connection.sendall(response.head() + response.body)


@dataclass(frozen=True)
class Response:
    """A response and the way it is sent; only after a `whole` one the connection can carry another exchange."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    transmission: Transmission = whole
    delay_s: float = 0.0

    def head(self, framing: str = "") -> bytes:
        status = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"
        closing = {} if self.transmission is whole else {"Connection": "close"}
        fields = {"Server": "sandbox", "Content-Type": self.content_type, **closing, **self.headers}
        named = (f"{name}: {value}" for name, value in fields.items())
        lines = [status, framing or f"Content-Length: {len(self.body)}", *named]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def json_response(content: Any, status: int = 200) -> Response:
    return Response(status, "application/json", json.dumps(content, ensure_ascii=False).encode())


def text_response(content: str, status: int = 200) -> Response:
    return Response(status, "text/plain; charset=utf-8", content.encode())
