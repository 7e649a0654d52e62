"""A proxy that lets a server seem gone or silent while it runs on, or loses commits; and a server that is silent."""

import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import Any, Self

# Most writes of a label are statements that commit by themselves.
COMMITS = (b"COMMIT", b'INSERT INTO "labels_shippinglabel"', b'UPDATE "labels_shippinglabel"')
LATE_S = 1.0


class Proxy:
    """Forwards TCP connections to a server's address, until told otherwise."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        self.target = target
        self.family = socket.AF_UNIX if isinstance(target, str) else socket.AF_INET
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self.listener.getsockname()[1]
        self.accepted = 0  # connections so far
        self.passed = 0  # bytes so far, both ways
        self.open = threading.Event()
        self.open.set()
        self.pairs: list[socket.socket] = []
        self.is_refusing = False
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)  # whoever waits for it closes it
        self.open.set()
        self.cut()

    def silence(self) -> None:
        """Accept connections and bytes, and pass nothing on."""
        self.open.clear()

    def refuse(self) -> None:
        """Reset what is open, and whatever is opened from now on."""
        self.is_refusing = True
        self.cut()

    def restore(self) -> None:
        """Connections from before a silence are cut, as no network keeps them for long."""
        self.is_refusing = False
        if not self.open.is_set():
            self.cut()
        self.open.set()

    def cut(self) -> None:
        pairs, self.pairs = self.pairs, []
        for end in pairs:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept(self) -> None:
        with suppress(OSError), self.listener:
            while True:
                client, _ = self.listener.accept()
                self.accepted += 1
                if self.is_refusing:
                    client.close()
                    continue
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        server = socket.socket(self.family)
        self.pairs += [client, server]
        self.open.wait()
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            server.close()
            return
        threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
        self.pump(client, server)

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                self.open.wait()
                self.passed += len(data)
                self.forward(data, source, sink)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def forward(self, data: bytes, source: socket.socket, sink: socket.socket) -> None:
        """Pass data on; an OSError cuts the connection."""
        sink.sendall(data)


class Cut(Enum):
    """The place of a cut."""

    NONE = auto()
    BEFORE = auto()  # the database never sees the commit
    AFTER = auto()  # it commits, and its answer is lost
    LATE = auto()  # it commits after the client has lost the connection and come back


class SeveringProxy(Proxy):
    """Forwards connections and cuts them at some of their commits, chosen at random, while it `is_armed`."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        super().__init__(target)
        self.is_armed = False
        self.cuts = 0
        self.random = random.Random(13)

    def forward(self, data: bytes, source: socket.socket, sink: socket.socket) -> None:
        is_clients = source.getsockname()[1:] == self.listener.getsockname()[1:]
        is_commit = self.is_armed and is_clients and any(commit in data for commit in COMMITS)
        turn = self.random.choice(list(Cut)) if is_commit else Cut.NONE
        if turn is not Cut.NONE:
            self.cuts += 1
            source.shutdown(socket.SHUT_RDWR)
        if turn is Cut.LATE:
            time.sleep(LATE_S)
        if turn is not Cut.BEFORE:
            sink.sendall(data)
        if turn is not Cut.NONE:
            time.sleep(0.1)  # it reads what was sent before it sees the end
            raise ConnectionAbortedError


def postgresql_target(settings: dict[str, Any]) -> str | tuple[str, int]:
    """Return the address of the server in Django's settings."""
    host = settings["HOST"] or settings["OPTIONS"].get("host", "")
    port = int(settings["PORT"] or 5432)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)


@contextmanager
def silent_server() -> Iterator[int]:
    """Accept connections and stay silent; yield the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        yield listener.getsockname()[1]
