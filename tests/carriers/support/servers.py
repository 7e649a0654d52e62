"""Loopback servers with scripted answers, byte by byte if needed."""

import re
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self
from xml.etree import ElementTree as ET

ANSWERS = Path(__file__).parents[1] / "answers"
XML = "text/xml; charset=utf-8"
MULTIPART = 'multipart/related; type="application/json"; boundary="uuid:0f4a"; start="<jsonInfos>"'

Play = Callable[[socket.socket, bytes], bool]
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class LoopbackServer:
    """Reads whole requests and lets `play` answer; a connection stays open while `play` returns True."""

    def __init__(self, play: Play, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.play = play
        self.requests: list[bytes] = []
        self.connections = 0
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", port))
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def has_closed(self) -> bool:
        """No connection is open."""
        return all(each.fileno() < 0 for each in self._open)

    def _accept(self) -> None:
        with suppress(OSError), self._listener:
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            stream = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            with stream:
                while (request := _read_request(stream)) and self._answered(stream, request):
                    pass

    def _answered(self, stream: socket.socket, request: bytes) -> bool:
        self.requests.append(request)
        return self.play(stream, request)

    def close(self) -> None:
        """End all connections. Each is closed by the thread that waits for it: its number may be another's by then."""
        for sock in (self._listener, *self._open):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _read_request(stream: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        piece = stream.recv(65536)
        if not piece:
            return b""
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    if b"expect: 100-continue" in head.lower():
        stream.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")  # the client waits a second for it
    length = _LENGTH.search(head)
    while length and len(body) < int(length[1]):
        body += stream.recv(65536)
    return head + b"\r\n\r\n" + body


def http(body: bytes, status: int = 200, content_type: str = XML, headers: str = "") -> bytes:
    lines = (f"HTTP/1.1 {status} Status", f"Content-Type: {content_type}", f"Content-Length: {len(body)}")
    return "".join(f"{line}\r\n" for line in lines).encode() + f"{headers}\r\n".encode() + body


def always(*answers: bytes) -> Play:
    """Give these answers in turn, then the last one again and again."""
    left = list(answers)

    def play(stream: socket.socket, request: bytes) -> bool:
        stream.sendall(left.pop(0) if len(left) > 1 else left[0])
        return True

    return play


def once(answer: bytes) -> Play:

    def play(stream: socket.socket, request: bytes) -> bool:
        stream.sendall(answer)
        return False

    return play


def answer_file(name: str) -> bytes:
    return (ANSWERS / name).read_bytes()


def alpha_labels(count: int) -> bytes:
    """Return alpha's answer to a purchase of several parcels, whose labels are 281, 282, ... points wide."""
    before, start, rest = answer_file("alpha_1_parcels.xml").partition(b"<resultMultiParcelValue>")
    parcel, end, after = rest.partition(b"</resultMultiParcelValue>")
    width = b64encode(b"281 42")
    assert width in parcel
    parcels = [
        parcel.replace(b"XS000000001FR", b"XS%09dFR" % rank).replace(width, b64encode(b"%d 42" % (280 + rank)))
        for rank in range(1, count + 1)
    ]
    return before + b"".join(start + each + end for each in parcels) + after


def body_of(request: bytes) -> bytes:
    return request.partition(b"\r\n\r\n")[2]


def asked(server: LoopbackServer, number: int = 0) -> tuple[str, list[tuple[str, str | None]]]:
    """Return the name of a SOAP request's operation, with its namespace, and the operation's children."""
    operation = ET.fromstring(body_of(server.requests[number]))[0][0]
    return operation.tag, [(child.tag, child.text) for child in operation]


def dripping(prefix: bytes, pieces: Iterable[bytes]) -> Play:
    """Send a start, then piece after piece, with pauses too short for a socket timeout."""

    def play(stream: socket.socket, request: bytes) -> bool:
        stream.sendall(prefix)
        for piece in pieces:
            stream.sendall(piece)
            time.sleep(0.02)
        return False

    return play


def silent(stream: socket.socket, request: bytes) -> bool:
    """Answer nothing until the client goes away."""
    stream.settimeout(5)
    return bool(stream.recv(1))


START = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n"
LABEL = {
    "alpha": http(answer_file("alpha_1_parcels.xml")),
    "beta": http(answer_file("beta_parcel_1.multipart"), content_type=MULTIPART),
}
