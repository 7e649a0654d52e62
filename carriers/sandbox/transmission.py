"""Sends a response over its socket, whole or with a network fault."""

import os
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

from carriers.sandbox.http import Response, Transmission

Wait = Callable[[float], bool]  # for that many seconds; true when the sandbox is reset or closed meanwhile

HUGE_BYTES = 50_000_000
CHUNK = b"A" * 65_536


@dataclass(frozen=True)
class Transmitter:
    """Sends one response."""

    response: Response
    connection: socket.socket
    wait: Wait

    def send(self) -> bool:
        """Send the response; return true when the connection can carry another exchange."""
        match self.response.transmission:
            case Transmission.WHOLE:
                # One write: head and body apart would wait for each other's acknowledgement.
                self.connection.sendall(self._sized_head() + self.response.body)
                return True
            case Transmission.HANG:
                self.wait(self.response.delay_s)
            case Transmission.CLOSE:
                pass  # the caller closes the connection
            case Transmission.RESET:
                self._reset()
            case Transmission.DRIP_HEAD:
                self._drip_head()
            case Transmission.DRIP_BODY:
                self.connection.sendall(self._sized_head())
                self._drip(self.response.body)
            case Transmission.CUT:
                self.connection.sendall(self._sized_head() + self.response.body[: len(self.response.body) // 2])
            case Transmission.HUGE:
                self._huge()
        return False

    def _head(self, framing: str) -> bytes:
        response = self.response
        fields = {"Server": "sandbox", "Content-Type": response.content_type, **response.headers}
        lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}", framing]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _sized_head(self) -> bytes:
        return self._head(f"Content-Length: {len(self.response.body)}")

    def _reset(self) -> None:
        # Lingering for 0 s makes the kernel send RST. The descriptor is closed here, past the socket
        # object, because the server's own orderly shutdown would send FIN first.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def _drip_head(self) -> None:
        status_line, rest = self._sized_head().split(b"\r\n", 1)
        self.connection.sendall(status_line + b"\r\n")
        self._drip(rest + self.response.body)

    def _drip(self, content: bytes) -> None:
        for byte in content:
            self.connection.sendall(bytes([byte]))
            if self.wait(self.response.delay_s):
                return

    def _huge(self) -> None:
        self.connection.sendall(self._head("Transfer-Encoding: chunked"))
        for piece in _inflated(self.response.body):
            self.connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.connection.sendall(b"0\r\n\r\n")


def _inflated(body: bytes) -> Iterator[bytes]:
    """Yield the body with the bulk in its middle, which is inside the label for both carriers."""
    middle = len(body) // 2
    yield body[:middle]
    for _ in range(HUGE_BYTES // len(CHUNK)):
        yield CHUNK
    yield body[middle:]
