"""A receiver of webhooks for drills: a process of its own, which writes each delivery to a log before it answers."""

import json
import os
import random
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.carriers.support.servers import LoopbackServer, body_of

# Paths that the receiver behaves differently at.
HANG, SLOW, TARDY, FLOOD = "/hang", "/slow", "/tardy", "/flood"
PAUSES_S = {HANG: 3600.0, SLOW: 0.02, TARDY: 10.0}
MESSAGE_ID = re.compile(r"^webhook-id: (\S+)", re.IGNORECASE | re.MULTILINE)
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
    with LoopbackServer(partial(answer, output), port=port):
        threading.Event().wait()


def answer(output: int, stream: socket.socket, request: bytes) -> bool:
    path, head = request.split(b" ", 2)[1].decode(), request.partition(b"\r\n\r\n")[0].decode()
    data = json.loads(body_of(request))["data"]
    time.sleep(PAUSES_S.get(path, 0.0))
    fields = (f"{time.time():.6f}", path, MESSAGE_ID.findall(head)[0], data["id"], data.get("code", "0"))
    os.write(output, (" ".join(fields) + "\n").encode())
    if path == FLOOD:
        flood(stream, *random.choice(FLOODS))
    stream.sendall(OK)
    return True


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
