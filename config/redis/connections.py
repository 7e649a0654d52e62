"""Redis connections: to a fixed server, or to the master that Redis Sentinel reports.

Each has one deadline for everything: connect, TLS, greeting, each byte of the answer. redis-py's own timeouts apply to
each socket operation, and a new connection takes several.
"""

import re
import socket
import ssl
from contextlib import suppress
from functools import cache
from typing import Any, Self
from urllib.parse import parse_qs, unquote

import redis
from redis.connection import AbstractConnection
from redis.sentinel import MasterNotFoundError

from carriers.http.connections import Deadline
from config.databases import split_host

URL = re.compile(
    r"redis(?P<tls>s?)\+sentinel://(?:(?P<username>[^:@/]*):(?P<password>[^@/]*)@)?(?P<hosts>[^@/?]+)"
    r"/(?P<service>[^/?]+)(?:/(?P<db>[0-9]+))?(?:\?(?P<query>.*))?"
)
Address = tuple[str, int]


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


class Sentinels:
    """The sentinels of a master, shared by all threads; one that fails moves to the end of the list."""

    def __init__(self, addresses: tuple[Address, ...], service: str) -> None:
        self.addresses = list(addresses)
        self.service = service

    def master(self, connection_class: type[Any], **options: Any) -> Address:
        """Return the master's address; raise redis.RedisError. After one timeout no other sentinel is asked."""
        for _ in self.addresses[1:]:
            with suppress(redis.ConnectionError):
                return self.ask_first(connection_class, **options)
        return self.ask_first(connection_class, **options)

    def ask_first(self, connection_class: type[Any], **options: Any) -> Address:
        first = self.addresses[0]
        connection = connection_class(host=first[0], port=first[1], **options)
        try:
            connection.send_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)
            answer = connection.read_response()
            if not answer:
                raise MasterNotFoundError(f"no master is known as {self.service}")
        except redis.RedisError:
            self.addresses = [*(other for other in self.addresses if other != first), first]
            raise
        finally:
            connection.disconnect()
        host, port = answer
        return host.decode(), int(port)


sentinels_of = cache(Sentinels)


@cache
def tls_context(options: frozenset[tuple[str, Any]]) -> ssl.SSLContext:
    """Return redis-py's context, which it makes for each connection: with 35 ms of CPU time, and 0.9 MB while open."""
    connection: Any = redis.SSLConnection(**dict(options))
    with socket.socket() as unconnected, connection._wrap_socket_with_ssl(unconnected) as wrapped:  # noqa: SLF001
        context: ssl.SSLContext = wrapped.context
    return context


class FoundConnection(AbstractConnection):
    """A connection to a fixed server, or to the sentinels' master; keeps its deadline, else redis-py's timeouts."""

    context: ssl.SSLContext

    def __init__(
        self,
        *,
        deadline: Deadline | None = None,
        sentinels: Sentinels | None = None,
        sentinel_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.deadline = deadline
        self.sentinels = sentinels
        self.sentinel_options = sentinel_options or {}
        super().__init__(**options)
        if isinstance(self, redis.SSLConnection):
            self.context = tls_context(frozenset(each for each in options.items() if each[0].startswith("ssl_")))

    @AbstractConnection.socket_timeout.getter  # type: ignore[attr-defined,untyped-decorator]  # it is a property
    def socket_timeout(self) -> float | None:
        return self.deadline.remaining_s() if self.deadline else super().socket_timeout

    socket_connect_timeout = socket_timeout

    def _connect(self) -> Any:
        if self.sentinels:
            self.host, self.port = self.sentinels.master(type(self), **self.sentinel_options)
        connected = super()._connect()  # type: ignore[safe-super,no-untyped-call]  # the mixed-in class's
        return BoundedSocket(connected, self.deadline) if self.deadline else connected

    def _wrap_socket_with_ssl(self, sock: socket.socket) -> ssl.SSLSocket:
        return self.context.wrap_socket(sock, server_hostname=self.host)


@cache
def found(kind: Any) -> type[AbstractConnection]:
    """Return the same kind of connections (TCP, TLS or Unix socket), bounded and found."""
    return type(kind.__name__, (FoundConnection, kind), {})


class Pool(redis.ConnectionPool):
    """redis-py's pool with a `deadline`; takes ``redis+sentinel://[USER:PASSWORD@]HOST:PORT,HOST:PORT/MASTER/DB`` too.

    The sentinels' own credentials are ``?sentinel_username=...&sentinel_password=...``; ``ssl_ca_certs`` is for all.
    """

    def __init__(self, connection_class: Any = redis.Connection, **options: Any) -> None:
        super().__init__(connection_class=found(connection_class), **options)

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Raise ValueError if the URL is malformed."""
        parts = URL.fullmatch(url)
        if not parts:
            return super().from_url(url, **options)
        addresses = tuple(split_host(host, 26379) for host in parts["hosts"].split(","))
        query = parse_qs(parts["query"] or "", strict_parsing=bool(parts["query"]))
        if not set(query) <= {"sentinel_username", "sentinel_password", "ssl_ca_certs"}:
            raise ValueError("only sentinel_username, sentinel_password and ssl_ca_certs may follow the master's name")
        own = {name.removeprefix("sentinel_"): values[-1] for name, values in query.items()}
        if "ssl_ca_certs" in own:
            options["ssl_ca_certs"] = own["ssl_ca_certs"]
        credentials = {name: unquote(parts[name]) for name in ("username", "password") if parts[name]}
        return cls(
            connection_class=redis.SSLConnection if parts["tls"] else redis.Connection,
            sentinels=sentinels_of(addresses, unquote(parts["service"])),
            sentinel_options=options | own,
            db=int(parts["db"] or 0),
            **options | credentials,
        )
