"""Redis connections with one deadline for everything: connect, TLS, greeting, each byte of the answer.

redis-py's own timeouts apply to each socket operation, and a new connection takes several.
"""

import socket
from typing import Any

from redis.connection import AbstractConnection

from carriers.http.connections import Deadline


class BoundedSocket:
    """A plain or TLS socket whose operations all share a deadline."""

    def __init__(self, wrapped: socket.socket, deadline: Deadline) -> None:
        self.wrapped = wrapped
        self.deadline = deadline

    def sendall(self, data: bytes) -> None:
        self.wrapped.settimeout(self.deadline.remaining_s())
        self.wrapped.sendall(data)

    def recv_into(self, buffer: bytearray) -> int:
        self.wrapped.settimeout(self.deadline.remaining_s())
        return self.wrapped.recv_into(buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)


class Bounded(AbstractConnection):
    """A connection that keeps its deadline if it has one, else redis-py's timeouts."""

    def __init__(self, *, deadline: Deadline | None = None, **options: Any) -> None:
        self.deadline = deadline
        super().__init__(**options)

    @AbstractConnection.socket_timeout.getter  # type: ignore[attr-defined,untyped-decorator]  # it is a property
    def socket_timeout(self) -> float | None:
        return self.deadline.remaining_s() if self.deadline else super().socket_timeout

    socket_connect_timeout = socket_timeout

    def _connect(self) -> Any:
        connected = super()._connect()  # type: ignore[safe-super,no-untyped-call]  # the mixed-in class's
        return BoundedSocket(connected, self.deadline) if self.deadline else connected
