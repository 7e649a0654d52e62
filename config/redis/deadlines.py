"""Redis connections with one deadline for everything: connect, TLS, greeting, each byte of the answer.

redis-py's own timeouts apply to each socket operation, and a new connection takes several.
"""

import socket
import time
from typing import Any

import redis
from redis.connection import AbstractConnection


class Deadline:
    """A time limit, started by each `begin`."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.begin()

    def begin(self) -> None:
        self.ends_at = time.monotonic() + self.timeout_s

    def remaining_s(self) -> float:
        """Return the seconds left, above 0; raise TimeoutError when there are none."""
        remaining_s = self.ends_at - time.monotonic()
        if remaining_s <= 0:
            raise TimeoutError("the deadline has passed")
        return remaining_s


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

    @property
    def socket_timeout(self) -> float | None:
        return self.deadline.remaining_s() if self.deadline else self._socket_timeout

    @socket_timeout.setter
    def socket_timeout(self, value: float | None) -> None:
        self._socket_timeout = value

    socket_connect_timeout = socket_timeout

    def _connect(self) -> Any:
        connected = super()._connect()  # type: ignore[safe-super,no-untyped-call]  # the mixed-in class's
        return BoundedSocket(connected, self.deadline) if self.deadline else connected


class BoundedConnection(Bounded, redis.Connection):
    """A bounded connection over TCP."""


class BoundedTLSConnection(Bounded, redis.SSLConnection):
    """A bounded connection over TLS."""


class BoundedUnixConnection(Bounded, redis.UnixDomainSocketConnection):
    """A bounded connection over a Unix socket."""


BOUNDED: dict[Any, Any] = {
    redis.Connection: BoundedConnection,
    redis.SSLConnection: BoundedTLSConnection,
    redis.UnixDomainSocketConnection: BoundedUnixConnection,
}
