"""Ways of sending a response's bytes that fail; the server closes the connection after each."""

import os
import socket
import struct

from carriers.sandbox.http import Response, Wait

HUGE_BYTES = 50_000_000
CHUNK = b"A" * 65_536


def hang(response: Response, _: socket.socket, wait: Wait) -> None:
    """Send nothing for the delay."""
    wait(response.delay_s)


def close(_: Response, __: socket.socket, ___: Wait) -> None:
    """Send nothing."""


def reset(_: Response, connection: socket.socket, __: Wait) -> None:
    # Lingering for 0 s makes the kernel send RST. The descriptor is closed here, past the socket
    # object, because the server's own orderly shutdown would send FIN first.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


def drip_head(response: Response, connection: socket.socket, wait: Wait) -> None:
    """Send a byte each time the delay is over, from the first header on."""
    status_line, rest = response.head().split(b"\r\n", 1)
    connection.sendall(status_line + b"\r\n")
    _drip(response, rest + response.body, connection, wait)


def drip_body(response: Response, connection: socket.socket, wait: Wait) -> None:
    """Send a byte each time the delay is over, from the first one of the body on."""
    connection.sendall(response.head())
    _drip(response, response.body, connection, wait)


def _drip(response: Response, content: bytes, connection: socket.socket, wait: Wait) -> None:
    for byte in content:
        connection.sendall(bytes([byte]))
        if wait(response.delay_s):
            return


def cut(response: Response, connection: socket.socket, _: Wait) -> None:
    """Send half of the announced body."""
    connection.sendall(response.head() + response.body[: len(response.body) // 2])


def huge(response: Response, connection: socket.socket, _: Wait) -> None:
    """Send the body in chunks, with the bulk in its middle, which is inside the label for both carriers."""
    connection.sendall(response.head("Transfer-Encoding: chunked"))
    middle = len(response.body) // 2
    bulk = [CHUNK] * (HUGE_BYTES // len(CHUNK))
    for piece in (response.body[:middle], *bulk, response.body[middle:], b""):
        connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
