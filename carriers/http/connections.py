"""Connections with one deadline for everything, and one budget of bytes for all that is received.

The libraries' timeouts apply to single socket operations, so a server that drips a byte a second never triggers
them. Here the timeout of every socket operation is the time left of the whole call. Their limits apply to single
lines, so headers, interim answers and chunks' extensions may be megabytes. Here every byte counts.
"""

import http.client
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any, Final

import urllib3
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util import wait_for_write

# Short enough to try another address within the deadline.
CONNECT_TIMEOUT_S: Final = 5.0
# Servers commonly close an idle connection after 5 s, and nobody can know if a request sent at that moment was
# carried out. So a connection that was idle for this long is not reused.
MAX_IDLE_S: Final = 4.0
# An answer's status line and headers, with all interim answers before it.
MAX_HEAD_BYTES: Final = 64 * 1024
READ_AHEAD_BYTES: Final = 8 * 1024  # of what follows a head; by default Python 3.14 reads more than a head may have
INTERIM: Final = range(102, 200)  # statuses; 100 is the library's, and no protocol is switched
# Of exchanges that set no limit of their own.
MAX_RECEIVED_BYTES: Final = 32 * 1024 * 1024


def clock_s() -> float:
    """Return a time that runs on while the machine is suspended; the monotonic clock of Linux stands still then."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


class Deadline:
    """The moment at which a call's time is up: nothing is sent after it, whatever held the process up."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self.begin()

    def begin(self) -> None:
        """Begin the whole time anew."""
        self._ends_at = clock_s() + self._timeout_s

    def remaining_s(self) -> float:
        """Return the seconds left, above 0; raises TimeoutError if there are none."""
        remaining_s = self._ends_at - clock_s()
        if remaining_s <= 0:
            raise TimeoutError("the deadline has passed")
        return remaining_s

    def is_over_in(self, seconds: float) -> bool:
        """Return whether no more than so many seconds are left."""
        return self._ends_at - clock_s() <= seconds

    def at_most(self, timeout_s: float) -> "Deadline":
        """Return a deadline of so many seconds from now, or this one if it is earlier."""
        earlier = Deadline(timeout_s)
        earlier._ends_at = min(earlier._ends_at, self._ends_at)
        return earlier


class AddressRefusedError(OSError):
    """The exchange may not connect to the address that the name led to."""


class AnswerTooLargeError(OSError):
    """The other side sent more than the exchange may receive."""


@contextmanager
def within(deadline: Deadline, **limits: Any) -> Iterator["Exchange"]:
    """Make one exchange in the block, over bounded connections; `limits` are fields of Exchange."""
    exchange = Exchange(deadline, **limits)
    token = current_exchange.set(exchange)
    try:
        yield exchange
    finally:
        current_exchange.reset(token)


@dataclass
class Exchange:
    """One attempt to send a request: its deadline, and true if a byte of it may have been sent.

    `receivable_bytes` may still come. `may_connect` is asked of each address, as text, before it is connected to.
    """

    deadline: Deadline
    is_sent: bool = False
    receivable_bytes: int = MAX_RECEIVED_BYTES
    may_connect: Callable[[str], bool] = lambda _: True

    def receive(self, count: int) -> None:
        """Take bytes that came off the budget; raise AnswerTooLargeError if they were too many."""
        self.receivable_bytes -= count
        if self.receivable_bytes < 0:
            raise AnswerTooLargeError("the answer is too large")


# Pooled connections find the exchange they serve here; a thread makes one exchange at a time.
current_exchange: ContextVar[Exchange] = ContextVar("current_exchange")


class _BoundedSocket(socket.socket):
    """A socket whose operations all end at the current exchange's deadline, or earlier at their own timeout.

    What it receives is taken off the exchange's budget.
    """

    used_at = 0.0

    def makefile(self, mode: Any = "r", buffering: int | None = READ_AHEAD_BYTES, **texts: Any) -> Any:
        return super().makefile(mode, buffering, **texts)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        exchange, own_s = current_exchange.get(), self.gettimeout()
        remaining_s = exchange.deadline.remaining_s()
        self.settimeout(remaining_s if own_s is None else min(own_s, remaining_s))
        count = super().recv_into(*args, **kwargs)
        self.used_at = clock_s()
        exchange.receive(count)
        return count

    def send(self, *args: Any) -> int:
        """Send what there is room for, at once: nothing is waited for between the look at the clock and the call.

        A socket with a timeout waits for room first, and a process that is suspended there would send too late.
        """
        remaining_s = current_exchange.get().deadline.remaining_s
        while True:
            wait_for_write(self, remaining_s())
            self.settimeout(0)
            try:
                remaining_s()
                return super().send(*args)
            except (BlockingIOError, ssl.SSLWantWriteError):
                pass
            finally:
                self.settimeout(None)

    def sendall(self, data: Any, *flags: int) -> None:
        left = memoryview(data).cast("B")
        while left:
            left = left[self.send(left, *flags) :]


class BoundedTLSSocket(_BoundedSocket, ssl.SSLSocket):
    """The same under TLS."""


@cache
def tls_context(ca_file: str) -> ssl.SSLContext:
    """Return a context that always verifies certificate and host name; cached, as reading all authorities is slow."""
    context = ssl.create_default_context(cafile=ca_file)
    context.sslsocket_class = BoundedTLSSocket
    return context


def resolve(host: str, port: int, timeout_s: float) -> list[Any]:
    """Resolve a name in a thread that is abandoned at the timeout, as the system's resolver has none."""
    found: Future[list[Any]] = Future()

    def look_up() -> None:
        try:
            found.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            found.set_exception(error)

    Thread(target=look_up, name="carrier-name-lookup", daemon=True).start()
    return found.result(timeout_s)


def _connect(host: str, port: int, options: Any, deadline: Deadline) -> socket.socket:
    """Connect to the first of a host's addresses that answers."""
    last_error = OSError("the name has no address")
    for family, kind, protocol, _, address in resolve(host, port, deadline.remaining_s()):
        if not current_exchange.get().may_connect(str(address[0])):
            last_error = AddressRefusedError("the address may not be connected to")
            continue
        sock = _BoundedSocket(family, kind, protocol)
        try:
            for option in options or ():
                sock.setsockopt(*option)
            sock.settimeout(min(CONNECT_TIMEOUT_S, deadline.remaining_s()))
            sock.connect(address)
            sock.settimeout(deadline.remaining_s())  # for the TLS handshake
        except OSError as error:
            sock.close()
            last_error = error
        else:
            return sock
    raise last_error


class _FinalResponse(http.client.HTTPResponse):
    """An answer after all interim ones; the library itself passes over `100 Continue` only."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]  # typeshed lacks it
            if found[1] not in INTERIM:
                return found
            http.client.parse_headers(self.fp)


class BoundedConnection(urllib3.connection.HTTPConnection):
    """A connection that records when the first byte of a request is sent."""

    response_class = _FinalResponse

    def _new_conn(self) -> socket.socket:
        deadline = current_exchange.get().deadline
        try:
            return _connect(self._dns_host, self.port or 0, self.socket_options, deadline)
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, "not connected in time") from error
        except OSError as error:
            raise NewConnectionError(self, "not connected") from error

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        exchange = current_exchange.get()
        exchange.deadline.remaining_s()
        exchange.is_sent = True
        super().send(data)

    @property
    def is_connected(self) -> bool:
        """Return whether the connection may be reused; the pool checks it before handing one out."""
        used_at = getattr(self.sock, "used_at", 0.0)
        return super().is_connected and clock_s() - used_at < MAX_IDLE_S


class BoundedTLSConnection(BoundedConnection, urllib3.connection.HTTPSConnection):
    """The same under TLS, where bytes behind the last answer may wait in the socket, which the kernel no longer has."""

    @property
    def is_connected(self) -> bool:
        return super().is_connected and not self.sock.pending()  # type: ignore[union-attr]


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = BoundedConnection


class _TLSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = BoundedTLSConnection


def pool_manager(ca_file: str, *, hosts: int, connections: int) -> urllib3.PoolManager:
    """Return pools of bounded connections to so many hosts, which verify certificates, use no proxy and retry nothing.

    Only the caller knows if a byte was sent (`Exchange.is_sent`).
    """
    manager = urllib3.PoolManager(hosts, maxsize=connections, retries=False, ssl_context=tls_context(ca_file))
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}
    return manager
