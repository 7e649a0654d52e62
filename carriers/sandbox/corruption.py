"""The ways an answer goes bad between the carrier and its client, as functions from answer to answer."""

from __future__ import annotations

import functools
import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

from carriers.sandbox.delivery import HUGE_BYTES
from carriers.sandbox.exchange import Answer, Delivery

if TYPE_CHECKING:
    from collections.abc import Callable

    Spoiler = Callable[[Answer], Answer]

DEPTH = 200_000
REDIRECTED_PATH = "/redirected"


def delivered(way: Delivery) -> Spoiler:
    """Leave the bytes alone and send them in another way."""
    return lambda answer: replace(answer, delivery=way)


def html(status: int) -> Spoiler:
    """Answer as the proxy in front of a carrier does."""
    page = f"<html><head><title>{status}</title></head><body><h1>Service message</h1></body></html>"
    return lambda _: Answer(status, "text/html", page.encode())


def empty(answer: Answer) -> Answer:
    return replace(answer, body=b"")


def truncated(answer: Answer) -> Answer:
    """Half the body, announced as if it were all: no closing tag, no closing boundary."""
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def garbled(answer: Answer) -> Answer:
    """Every byte with its high bit turned over: no tag, no boundary, no JSON is left."""
    return replace(answer, body=bytes(byte ^ 0x80 for byte in answer.body))


def wrong_charset(answer: Answer) -> Answer:
    """Latin-1 text in an answer that says UTF-8."""
    return replace(answer, body=answer.body.replace(b"SANDBOX", "SANDBOX é".encode("latin-1"), 1))


def doctype(answer: Answer) -> Answer:
    declaration = b'<!DOCTYPE answer [<!ENTITY sandbox "SANDBOX">]>'
    return replace(answer, body=answer.body.replace(b"?>", b"?>" + declaration, 1))


def deep(answer: Answer) -> Answer:
    """Nest what the answer's first message holds, in its own language."""
    if "xml" in answer.content_type:
        nest = b"<a>" * DEPTH + b"</a>" * DEPTH
        return replace(answer, body=answer.body.replace(b"<errorMessage>", nest + b"<errorMessage>", 1))
    nest = b"[" * DEPTH + b"]" * DEPTH
    return replace(answer, body=answer.body.replace(b'"messages": [', b'"messages": [' + nest + b", ", 1))


def gzip_bomb(answer: Answer) -> Answer:
    """50 MB in 50 kB, whether or not the client said that it takes gzip."""
    return replace(answer, body=_bomb(), headers={"Content-Encoding": "gzip"})


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(b" " * HUGE_BYTES, mtime=0)


def redirect(_: Answer) -> Answer:
    """Point to another host name, where the sandbox counts who follows; the server fills in the port."""
    return Answer(307, "text/plain", b"", headers={"Location": REDIRECTED_PATH})


def mixed(answer: Answer) -> Answer:
    """The older form of a multipart answer: another subtype, a line break behind the last boundary."""
    media_type = answer.content_type.replace("multipart/related", "multipart/mixed")
    return replace(answer, content_type=media_type, body=answer.body + b"\r\n")
