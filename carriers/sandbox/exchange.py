"""What comes in and what goes out: one HTTP request and its answer, as plain data."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Delivery(enum.Enum):
    """How an answer's bytes go onto the socket."""

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
    """One request as read from the socket."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]  # keys in lower case
    body: bytes


@dataclass(frozen=True)
class Answer:
    """One answer and the way it is sent."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delivery: Delivery = Delivery.WHOLE
    delay_s: float = 0.0


def json_answer(content: Any, status: int = 200) -> Answer:
    return Answer(status, "application/json", json.dumps(content, ensure_ascii=False).encode())


def text_answer(content: str, status: int = 200) -> Answer:
    return Answer(status, "text/plain; charset=utf-8", content.encode())
