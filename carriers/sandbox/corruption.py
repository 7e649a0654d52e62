"""Corrupts a response between the carrier and its client: its bytes, or the way in which they are sent.

The server closes the connection after one that is not sent whole. The table of faults names these functions.
"""

import functools
import gzip
import os
import socket
import struct
from collections.abc import Callable
from dataclasses import replace

from carriers.sandbox.http import Response, Transmission, Wait

HUGE_BYTES = 50_000_000
CHUNK = b"A" * 65_536
Corruption = Callable[[Response], Response]
DEPTH = 200_000
REDIRECTED_PATH = "/redirected"
NO_PDF = b"SANDBOX: this is no PDF"


def sent(transmission: Transmission) -> Corruption:
    """Keep the bytes and send them in another way."""
    return lambda response: replace(response, transmission=transmission)


@sent
def hang(response: Response, _: socket.socket, wait: Wait) -> None:
    """Send nothing for the delay."""
    wait(response.delay_s)


@sent
def close(_: Response, __: socket.socket, ___: Wait) -> None:
    """Send nothing."""


@sent
def reset(_: Response, connection: socket.socket, __: Wait) -> None:
    # Lingering for 0 s makes the kernel send RST. The descriptor is closed here, past the socket
    # object, because the server's own orderly shutdown would send FIN first.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


@sent
def drip_head(response: Response, connection: socket.socket, wait: Wait) -> None:
    """Send a byte each time the delay is over, from the first header on."""
    status_line, rest = response.head().split(b"\r\n", 1)
    connection.sendall(status_line + b"\r\n")
    _drip(response, rest + response.body, connection, wait)


@sent
def drip_body(response: Response, connection: socket.socket, wait: Wait) -> None:
    """Send a byte each time the delay is over, from the first one of the body on."""
    connection.sendall(response.head())
    _drip(response, response.body, connection, wait)


def _drip(response: Response, content: bytes, connection: socket.socket, wait: Wait) -> None:
    for byte in content:
        connection.sendall(bytes([byte]))
        if wait(response.delay_s):
            return


@sent
def cut(response: Response, connection: socket.socket, _: Wait) -> None:
    """Send half of the announced body."""
    connection.sendall(response.head() + response.body[: len(response.body) // 2])


@sent
def huge(response: Response, connection: socket.socket, _: Wait) -> None:
    """Send the body in chunks, with the bulk in its middle, which is inside the label for both carriers."""
    connection.sendall(response.head("Transfer-Encoding: chunked"))
    middle = len(response.body) // 2
    bulk = [CHUNK] * (HUGE_BYTES // len(CHUNK))
    for piece in (response.body[:middle], *bulk, response.body[middle:], b""):
        connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))


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
