"""One HTTP request and its response, as plain data; and JSON, read strictly, of beta and the control endpoints."""

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from email.message import Message as MimeHeaders
from http import HTTPStatus
from typing import Any

Transmission = Callable[["Response", socket.socket, "Wait"], None]
Wait = Callable[[float], bool]  # for that many seconds; true when the sandbox is reset or closed meanwhile
Json = dict[str, Any]
# The types of fields, as the shapes of requests name them.
TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,), "integer": (int,), "number": (int, float, Decimal), "boolean": (bool,), "any": (str, int, Decimal),
}  # fmt: skip


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

    def is_of_type(self, media_type: str) -> bool:
        """Return whether the body is declared to be of this type, and of no charset but UTF-8."""
        headers = MimeHeaders()
        headers["content-type"] = self.headers.get("content-type", "")
        return headers.get_content_type() == media_type and headers.get_content_charset("utf-8") == "utf-8"


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


class MalformedError(Exception):
    """The body is not the JSON that is taken there; the message names the path at fault.

    `status` is that of the control endpoints' answer.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def read_request(request: Request, shape: Json) -> Json:
    """Return a body of this shape with every block present and every null left out."""
    if not request.is_of_type("application/json"):
        raise MalformedError("the content type is application/json, in UTF-8")
    try:
        body = json.loads(request.body.decode(), parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise MalformedError("the body is not JSON in UTF-8") from None
    read: Json = shaped(body, shape)
    return read


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def shaped(value: Any, shape: Any, path: str = "request") -> Any:
    """Return a value of this shape, a type's name, a block of fields, or a list of one kind; raise MalformedError."""
    if isinstance(shape, dict):
        return _shaped_block(value, shape, path)
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise MalformedError(f"{path}: a list is expected")
        return [shaped(item, shape[0], f"{path}[{rank}]") for rank, item in enumerate(value)]
    if not isinstance(value, TYPES[shape]) or (isinstance(value, bool) and shape != "boolean"):
        raise MalformedError(f"{path}: of the wrong type")
    return value


def _shaped_block(value: Any, shape: Json, path: str) -> Json:
    if not isinstance(value, dict):
        raise MalformedError(f"{path}: an object is expected")
    unknown = sorted(value.keys() - shape.keys())
    if unknown:
        raise MalformedError(f"{path}.{unknown[0]}: this service has no such field")
    given = {name: inner for name, inner in value.items() if inner is not None}
    return {
        name: shaped(given.get(name, {}), inner, f"{path}.{name}")
        for name, inner in shape.items()
        if name in given or isinstance(inner, dict)
    }
