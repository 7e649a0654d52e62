"""Redis connections to a fixed server, or to the master that Redis Sentinel reports."""

import re
from functools import cache
from typing import Any, Self
from urllib.parse import parse_qs, unquote

import redis
from redis.connection import AbstractConnection
from redis.sentinel import MasterNotFoundError

from config.hosts import split_host
from config.redis.deadlines import Bounded

URL = re.compile(
    r"redis(?P<tls>s?)\+sentinel://(?:(?P<username>[^:@/]*):(?P<password>[^@/]*)@)?(?P<hosts>[^@/?]+)"
    r"/(?P<service>[^/?]+)(?:/(?P<db>[0-9]+))?(?:\?(?P<query>.*))?"
)
Address = tuple[str, int]


class Sentinels:
    """The sentinels of a master, shared by all threads; one that fails moves to the end of the list."""

    def __init__(self, addresses: tuple[Address, ...], service: str) -> None:
        self.addresses = list(addresses)
        self.service = service

    def master(self, connection_class: type[Any], **options: Any) -> Address:
        """Return the master's address; raise redis.RedisError. After one timeout no other sentinel is asked."""
        for _ in self.addresses[1:]:
            try:
                return self.ask_first(connection_class, **options)
            except redis.ConnectionError:
                continue
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


class FoundConnection(Bounded):
    """A connection to the server that is the master when it connects; without sentinels, to a fixed one."""

    def __init__(
        self, *, sentinels: Sentinels | None = None, sentinel_options: dict[str, Any] | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.sentinels = sentinels
        self.sentinel_options = sentinel_options or {}

    def _connect(self) -> Any:
        if self.sentinels:
            self.host, self.port = self.sentinels.master(type(self), **self.sentinel_options)
        return super()._connect()


@cache
def found(kind: Any) -> type[AbstractConnection]:
    """Return the same kind of connections (TCP, TLS or Unix socket), bounded and found."""
    return type(kind.__name__, (FoundConnection, kind), {})


class Pool(redis.ConnectionPool):
    """redis-py's pool with a `deadline`; takes ``redis+sentinel://[USER:PASSWORD@]HOST:PORT,HOST:PORT/MASTER/DB`` too.

    The sentinels' own credentials are ``?sentinel_username=...&sentinel_password=...``.
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
        credentials = {name: unquote(parts[name]) for name in ("username", "password") if parts[name]}
        return cls(
            connection_class=redis.SSLConnection if parts["tls"] else redis.Connection,
            sentinels=sentinels_of(addresses, unquote(parts["service"])),
            sentinel_options=options | sentinel_credentials(query),
            db=int(parts["db"] or 0),
            **options | credentials,
        )


def sentinel_credentials(query: dict[str, list[str]]) -> dict[str, str]:
    """Read the sentinels' credentials from a URL's query; raise ValueError for other parameters."""
    if not set(query) <= {"sentinel_username", "sentinel_password"}:
        raise ValueError("only sentinel_username and sentinel_password may follow the master's name")
    return {name.removeprefix("sentinel_"): values[-1] for name, values in query.items()}
