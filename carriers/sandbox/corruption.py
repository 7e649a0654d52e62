"""Corrupts a response between the carrier and its client; each function turns a good response into a bad one."""

import functools
import gzip
from collections.abc import Callable
from dataclasses import replace

from carriers.sandbox.http import Response, Transmission
from carriers.sandbox.transmission import HUGE_BYTES

Corruption = Callable[[Response], Response]

DEPTH = 200_000
REDIRECTED_PATH = "/redirected"
NO_PDF = b"SANDBOX: this is no PDF"


def sent(transmission: Transmission) -> Corruption:
    """Keep the bytes and send them in another way."""
    return lambda response: replace(response, transmission=transmission)


def html(status: int) -> Corruption:
    """Answer as the proxy in front of a carrier does."""
    page = f"<html><head><title>{status}</title></head><body><h1>Service message</h1></body></html>"
    return lambda _: Response(status, "text/html", page.encode())


def body(change: Callable[[bytes], bytes]) -> Corruption:
    return lambda response: replace(response, body=change(response.body))


empty = body(lambda _: b"")
# Half the body, announced as if it were all: no closing tag, no closing boundary.
truncated = body(lambda content: content[: len(content) // 2])
# No tag, no boundary, no JSON is left.
garbled = body(lambda content: bytes(byte ^ 0x80 for byte in content))
# Latin-1 in an answer that says UTF-8.
wrong_charset = body(lambda content: content.replace(b"SANDBOX", "SANDBOX é".encode("latin-1"), 1))
doctype = body(lambda content: content.replace(b"?>", b'?><!DOCTYPE answer [<!ENTITY sandbox "SANDBOX">]>', 1))


def deep(response: Response) -> Response:
    """Put deeply nested XML or JSON before the first message, or into JSON without messages."""
    if "xml" in response.content_type:
        place, nest = b"<errorMessage>", b"<a>" * DEPTH + b"</a>" * DEPTH + b"<errorMessage>"
    elif b'"messages": [' in response.body:
        place, nest = b'"messages": [', b'"messages": [' + b"[" * DEPTH + b"]" * DEPTH + b", "
    else:
        place, nest = b"{", b'{"deep": ' + b"[" * DEPTH + b"]" * DEPTH + b", "
    return replace(response, body=response.body.replace(place, nest, 1))


def gzip_bomb(response: Response) -> Response:
    """Send 50 MB in 50 kB, even to a client that does not accept gzip."""
    return replace(response, body=_bomb(), headers={"Content-Encoding": "gzip"})


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(b" " * HUGE_BYTES, mtime=0)


def redirect(_: Response) -> Response:
    """Redirect to a path at which the sandbox counts who follows; `routes` adds another host's name."""
    return Response(307, "text/plain", b"", headers={"Location": REDIRECTED_PATH})


def mixed(response: Response) -> Response:
    """Use the older multipart form: another subtype, a line break after the last boundary."""
    media_type = response.content_type.replace("multipart/related", "multipart/mixed")
    return replace(response, content_type=media_type, body=response.body + b"\r\n")
