"""A proxy before PostgreSQL that cuts a connection at the moment at which it would commit a label."""

import random
import socket
import time
from contextlib import suppress
from enum import Enum, auto
from typing import Any

from tests.support.proxies import Proxy

# Most writes of a label are statements that commit by themselves.
COMMITS = (b"COMMIT", b'INSERT INTO "labels_shippinglabel"', b'UPDATE "labels_shippinglabel"')
LATE_S = 1.0


class Cut(Enum):
    """The place of the cut."""

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

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        if source.getsockname()[1:] != self.listener.getsockname()[1:]:
            super().pump(source, sink)  # what the database answers
            return
        with suppress(OSError):
            while data := source.recv(65_536):
                if self.is_armed and any(commit in data for commit in COMMITS) and self.cut_at(data, source, sink):
                    return
                sink.sendall(data)
        self.close(source, sink)

    def cut_at(self, data: bytes, client: socket.socket, database: socket.socket) -> bool:
        """Cut the connection, or not; tell if it was cut."""
        turn = self.random.choice(list(Cut))
        if turn is Cut.NONE:
            return False
        self.cuts += 1
        self.close(client)
        if turn is Cut.LATE:
            time.sleep(LATE_S)
        if turn is not Cut.BEFORE:
            with suppress(OSError):
                database.sendall(data)
                time.sleep(0.1)  # it reads what was sent before it sees the end
        self.close(database)
        return True

    @staticmethod
    def close(*ends: Any) -> None:
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
