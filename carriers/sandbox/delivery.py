"""Puts an answer onto its socket, whole or in one of the ways in which carriers fail."""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from carriers.sandbox.exchange import Delivery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from carriers.sandbox.exchange import Answer

    Pause = Callable[[float], bool]  # waits so many seconds; true when the server closes meanwhile

HUGE_BYTES = 50_000_000
CHUNK = b"A" * 65_536


@dataclass(frozen=True)
class Sender:
    """One answer on its socket; `send` is the way in."""

    answer: Answer
    connection: socket.socket
    pause: Pause

    def send(self) -> bool:
        """Send the answer; true when the connection can carry another exchange."""
        ways = {
            Delivery.WHOLE: self._whole,
            Delivery.HANG: self._hang,
            Delivery.CLOSE: self._close,
            Delivery.RESET: self._reset,
            Delivery.DRIP_HEAD: self._drip_head,
            Delivery.DRIP_BODY: self._drip_body,
            Delivery.CUT: self._cut,
            Delivery.HUGE: self._huge,
        }
        ways[self.answer.delivery]()
        return self.answer.delivery is Delivery.WHOLE

    def _head(self, framing: str) -> bytes:
        answer = self.answer
        fields = {"Server": "sandbox", "Content-Type": answer.content_type, **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}", framing]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _sized_head(self) -> bytes:
        return self._head(f"Content-Length: {len(self.answer.body)}")

    def _whole(self) -> None:
        # One write: head and body apart would wait for each other's acknowledgement.
        self.connection.sendall(self._sized_head() + self.answer.body)

    def _hang(self) -> None:
        self.pause(self.answer.delay_s)

    def _close(self) -> None:
        """Nothing is sent; the caller closes the connection."""

    def _reset(self) -> None:
        # Lingering for 0 s makes the kernel send RST. The descriptor is closed here, past the socket
        # object, because the server's own orderly shutdown would send FIN first.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def _drip_head(self) -> None:
        status_line, rest = self._sized_head().split(b"\r\n", 1)
        self.connection.sendall(status_line + b"\r\n")
        self._drip(rest + self.answer.body)

    def _drip_body(self) -> None:
        self.connection.sendall(self._sized_head())
        self._drip(self.answer.body)

    def _drip(self, content: bytes) -> None:
        for byte in content:
            self.connection.sendall(bytes([byte]))
            if self.pause(self.answer.delay_s):
                return

    def _cut(self) -> None:
        body = self.answer.body
        self.connection.sendall(self._sized_head() + body[: len(body) // 2])

    def _huge(self) -> None:
        self.connection.sendall(self._head("Transfer-Encoding: chunked"))
        for piece in _inflated(self.answer.body):
            self.connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.connection.sendall(b"0\r\n\r\n")


def _inflated(body: bytes) -> Iterator[bytes]:
    """Yield the body with the bulk in its middle, which is inside the label for both carriers."""
    middle = len(body) // 2
    yield body[:middle]
    for _ in range(HUGE_BYTES // len(CHUNK)):
        yield CHUNK
    yield body[middle:]
