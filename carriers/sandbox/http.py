"""One HTTP request and its response, as plain data."""

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Transmission(enum.Enum):
    """The ways of sending a response's bytes."""

    WHOLE = enum.auto()
    HANG = enum.auto()  # nothing for `delay_s`, then the connection is closed
    CLOSE = enum.auto()
    RESET = enum.auto()
    DRIP_HEAD = enum.auto()  # a byte every `delay_s`, from the first header on
    DRIP_BODY = enum.auto()  # a byte every `delay_s`, from the first byte of the body on
    CUT = enum.auto()  # half of the announced body, then the connection is closed
    HUGE = enum.auto()  # the body with 50 MB in its middle, chunked


@dataclass(frozen=True)
class Request:
    """A request as read from the socket."""

    server_url: str  # scheme, host and port of the sandbox
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]  # keys in lower case
    body: bytes


@dataclass(frozen=True)
class Response:
    """A response and the way it is sent."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    transmission: Transmission = Transmission.WHOLE
    delay_s: float = 0.0


def json_response(content: Any, status: int = 200) -> Response:
    return Response(status, "application/json", json.dumps(content, ensure_ascii=False).encode())


def text_response(content: str, status: int = 200) -> Response:
    return Response(status, "text/plain; charset=utf-8", content.encode())
