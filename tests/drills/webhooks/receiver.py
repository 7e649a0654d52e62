"""A receiver of webhooks for drills: a process of its own, which writes each delivery to a log before it answers."""

import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Paths that the receiver behaves differently at.
HANG, SLOW, TARDY, FLOOD = "/hang", "/slow", "/tardy", "/flood"
PAUSES_S = {HANG: 3600.0, SLOW: 0.02, TARDY: 10.0}
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
# Beginnings of answers that end nowhere, each with what follows again and again.
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
FLOODS = (
    (b"HTTP/1.1 200 OK\r\n", b"X-Large: " + b"a" * 65_000 + b"\r\n"),
    (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    (CHUNKED, b"1;" + b"a" * 60_000 + b"\r\nx\r\n"),
    (CHUNKED, b"1\r\nx\r\n" * 1000),
)


@dataclass(frozen=True)
class Delivery:
    """A line of the log; `sequence` is the event's number among those of its subject."""

    at: float
    path: str
    message_id: str
    subject: str
    sequence: int


def serve(port: int, log: Path) -> None:
    """Serve until killed."""
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, output), daemon=True).start()


def answer(connection: socket.socket, output: int) -> None:
    with suppress(OSError, ValueError), connection, connection.makefile("rb") as stream:
        while line := stream.readline():
            path = line.split()[1].decode()
            headers = dict(header.decode().strip().split(": ", 1) for header in iter(stream.readline, b"\r\n"))
            headers = {name.lower(): value for name, value in headers.items()}
            data = json.loads(stream.read(int(headers["content-length"])))["data"]
            time.sleep(PAUSES_S.get(path, 0.0))
            fields = (f"{time.time():.6f}", path, headers["webhook-id"], data["id"], data.get("code", "0"))
            os.write(output, (" ".join(fields) + "\n").encode())
            if path == FLOOD:
                flood(connection, *random.choice(FLOODS))
            connection.sendall(OK)


def flood(connection: socket.socket, beginning: bytes, rest: bytes) -> None:
    connection.sendall(beginning)
    for _ in range(97):  # one header more, and Python's own client would refuse them
        connection.sendall(rest)
    connection.sendall(b"\r\n")
    while True:
        connection.sendall(rest)


def deliveries(log: Path) -> Iterator[Delivery]:
    """Read the log."""
    for line in log.read_text().splitlines() if log.exists() else []:
        at, path, message_id, subject, sequence = line.split()
        yield Delivery(float(at), path, message_id, subject, int(sequence))
