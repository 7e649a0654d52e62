"""Puts an answer onto its socket, whole or in one of the ways in which carriers fail."""

from __future__ import annotations

import os
import socket
import struct
from http import HTTPStatus
from typing import TYPE_CHECKING

from carriers.sandbox.exchange import Delivery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from carriers.sandbox.exchange import Answer

    Pause = Callable[[float], bool]  # waits so many seconds; true when the server closes meanwhile

HUGE_BYTES = 50_000_000
CHUNK = b"A" * 65_536


def deliver(answer: Answer, connection: socket.socket, pause: Pause) -> bool:
    """Send the answer; true when the connection can carry another exchange."""
    if answer.delivery is Delivery.WHOLE:
        # One write: head and body apart would wait for each other's acknowledgement.
        connection.sendall(_head(answer) + answer.body)
        return True
    _WAYS[answer.delivery](answer, connection, pause)
    return False


def _head(answer: Answer, *, is_chunked: bool = False) -> bytes:
    framing = {"Transfer-Encoding": "chunked"} if is_chunked else {"Content-Length": str(len(answer.body))}
    fields = {"Server": "sandbox", "Content-Type": answer.content_type, **framing, **answer.headers}
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _hang(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    pause(answer.delay_s)


def _close(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    """Nothing is sent; the caller closes the connection."""


def _reset(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    # Lingering for 0 s makes the kernel send RST. The descriptor is closed here, past the socket object,
    # because the server's own orderly shutdown would send FIN first.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


def _drip_head(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    status_line, rest = _head(answer).split(b"\r\n", 1)
    connection.sendall(status_line + b"\r\n")
    _drip(rest + answer.body, connection, pause, answer.delay_s)


def _drip_body(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    connection.sendall(_head(answer))
    _drip(answer.body, connection, pause, answer.delay_s)


def _drip(content: bytes, connection: socket.socket, pause: Pause, every_s: float) -> None:
    for byte in content:
        connection.sendall(bytes([byte]))
        if pause(every_s):
            return


def _cut(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    connection.sendall(_head(answer) + answer.body[: len(answer.body) // 2])


def _huge(answer: Answer, connection: socket.socket, pause: Pause) -> None:
    connection.sendall(_head(answer, is_chunked=True))
    for piece in _inflated(answer.body):
        connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
    connection.sendall(b"0\r\n\r\n")


def _inflated(body: bytes) -> Iterator[bytes]:
    """Yield the body with the bulk in its middle, which is inside the label for both carriers."""
    middle = len(body) // 2
    yield body[:middle]
    for _ in range(HUGE_BYTES // len(CHUNK)):
        yield CHUNK
    yield body[middle:]


_WAYS: dict[Delivery, Callable[[Answer, socket.socket, Pause], None]] = {
    Delivery.HANG: _hang,
    Delivery.CLOSE: _close,
    Delivery.RESET: _reset,
    Delivery.DRIP_HEAD: _drip_head,
    Delivery.DRIP_BODY: _drip_body,
    Delivery.CUT: _cut,
    Delivery.HUGE: _huge,
}
