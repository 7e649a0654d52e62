"""The counter in Redis: few commands, one deadline for all of them, and no trust in the answers."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import redis
from django.conf import settings as django_settings
from django.core.cache import caches
from prometheus_client import REGISTRY
from pytest_django.fixtures import Settings

from carriers.http.connections import Deadline
from config.redis.connections import BoundedSocket, Pool
from config.redis.counter import CountingRedisCache
from tests.support.api import Caller, Clock
from tests.support.certificates import self_signed, server_context
from tests.support.paths import SEARCH

WAIT_TIMEOUT_S = 30.0


class Store:
    """A stub server that answers each command by a function, and records the commands' names."""

    def __init__(self, answer: Callable[[str], bytes], certificate: Path | None = None) -> None:
        self.answer = answer
        self.tls = server_context(certificate) if certificate else None
        self.asked: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError), self.listener:
            while True:
                threading.Thread(target=self.serve, args=self.listener.accept()[:1], daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with suppress(OSError), self.tls.wrap_socket(connection, True) if self.tls else connection as stream:
            while command := stream.recv(65_536):
                name = command.split(b"\r\n")[2].decode()
                self.asked.append(name)
                stream.sendall(self.answer(name))

    def cache(self, url: str = "redis://{}/0") -> CountingRedisCache:
        options = django_settings.REDIS_OPTIONS | {"socket_timeout": WAIT_TIMEOUT_S}
        return CountingRedisCache([url.format(self.address)], {"OPTIONS": options})


@pytest.fixture
def clock(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr("carriers.http.connections.clock_s", clock.time)
    return clock


Stores = Callable[..., Store]


@pytest.fixture
def store() -> Iterator[Stores]:
    made: list[Store] = []

    def make(answer: Callable[[str], bytes], certificate: Path | None = None) -> Store:
        made.append(Store(answer, certificate))
        return made[-1]

    yield make
    for each in made:
        each.listener.shutdown(socket.SHUT_RDWR)  # whoever waits for it closes it


def counting(name: str) -> bytes:
    return b":1\r\n" if name in {"INCR", "EXPIRE"} else b"+OK\r\n"


def test_a_new_connection_sends_only_the_commands_that_counting_needs(store: Stores) -> None:
    answers = iter([b"+OK\r\n", b"+OK\r\n", b":1\r\n", b":1\r\n", b":2\r\n"])
    counter = store(lambda name: next(answers))
    cache = counter.cache("redis://user:password@{}/3")
    assert [cache.count("key", 60), cache.count("key", 60)] == [1, 2]
    assert counter.asked == ["AUTH", "SELECT", "INCR", "EXPIRE", "INCR"]


def test_connections_by_tls_read_their_authorities_once(
    store: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the system's takes 35 ms of CPU, and several threads that connect at once have 0.2 s."""
    make = Mock(wraps=ssl.create_default_context)
    monkeypatch.setattr(ssl, "create_default_context", make)
    certificate = self_signed(tmp_path / "certificate.pem")
    counter = store(counting, certificate)
    caches_of_threads = [counter.cache(f"rediss://{{}}/0?ssl_ca_certs={certificate}") for _ in range(3)]
    assert [cache.count("key", 60) for cache in caches_of_threads] == [1] * 3
    assert make.call_count == 1
    other = counter.cache()
    other.url = f"rediss://{counter.address}/0"  # without the authority
    with pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
        other.count("key", 60)


@pytest.mark.parametrize(
    ("url", "share", "answer_to_count", "asked"),
    [
        ("redis://user:password@{}/3", 0.4, b":1\r\n", ["AUTH", "SELECT", "INCR"]),
        # EXPIRE is left out: a client that waits already for the last answer doesn't see the clock move.
        ("redis://{}/3", 0.5, b":1\r\n", ["SELECT", "INCR"]),
        # The second attempt has only the time that the first one left.
        ("redis://{}/3", 0.4, b"-LOADING Redis is loading the dataset in memory\r\n", ["SELECT", "INCR", "SELECT"]),
    ],
)
def test_all_commands_of_a_count_share_one_deadline(
    url: str, share: float, answer_to_count: bytes, asked: list[str], store: Stores, clock: Clock
) -> None:
    """Each answer takes this share of the deadline."""

    def answer(name: str) -> bytes:
        clock.tick(WAIT_TIMEOUT_S * share)
        return answer_to_count if name == "INCR" else counting(name)

    counter = store(answer)
    with pytest.raises((redis.TimeoutError, TimeoutError)):
        counter.cache(url).count("key", 60)
    assert counter.asked == asked


@pytest.mark.real_services
def test_a_key_goes_when_the_first_of_its_window_said() -> None:
    cache: Any = caches["rate_limit"]
    assert [cache.count("a window", 60), cache.count("a window", 3600)] == [1, 2]
    assert 0 < cache.ask("TTL", cache.make_key("a window")) <= 60


def test_each_count_has_its_own_deadline(store: Stores, clock: Clock) -> None:
    counter = store(counting)
    cache = counter.cache()
    for _ in range(3):
        assert cache.count("key", 60) == 1
        clock.tick(WAIT_TIMEOUT_S * 2)


def test_each_byte_of_an_answer_is_bounded_by_the_time_left(clock: Clock) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        bounded = BoundedSocket(ours, Deadline(WAIT_TIMEOUT_S))
        for _ in range(2):
            theirs.send(b":")
            assert bounded.recv_into(bytearray(9)) == 1
            clock.tick(WAIT_TIMEOUT_S * 0.4)
            assert ours.gettimeout() is not None
        clock.tick(WAIT_TIMEOUT_S * 0.4)
        theirs.send(b"1")
        with pytest.raises(TimeoutError):
            bounded.recv_into(bytearray(9))
        with pytest.raises(TimeoutError):
            bounded.sendall(b"more")


@pytest.mark.parametrize(
    "url", ["redis://localhost", "rediss://localhost", "unix:///none", "redis+sentinel://localhost/main"]
)
def test_connecting_is_bounded_by_the_time_left(url: str, clock: Clock) -> None:
    deadline = Deadline(WAIT_TIMEOUT_S)
    connection: Any = Pool.from_url(url, deadline=deadline, socket_timeout=WAIT_TIMEOUT_S).make_connection()
    clock.tick(WAIT_TIMEOUT_S - 1)
    assert connection.socket_connect_timeout == pytest.approx(1)
    assert connection.socket_timeout == pytest.approx(1)


NONSENSE = {
    "yes to everything": b"+OK\r\n",
    "an array": b"*1\r\n:1\r\n",
    "nothing": b"$-1\r\n",
    "too large a number": b":99999999999999999999\r\n",
    "another protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "no text": b"-\xff\xfe\r\n",
}


@pytest.mark.parametrize("url", ["redis://{}/0", "redis://user:password@{}/3", "redis+sentinel://{}/main/0"])
@pytest.mark.parametrize("nonsense", NONSENSE.values(), ids=NONSENSE)
def test_a_store_that_answers_nonsense_counts_as_down(
    nonsense: bytes, url: str, store: Stores, own: Caller, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    counter = store(lambda name: nonsense)
    settings.CACHES = django_settings.CACHES | {
        "rate_limit": {
            "BACKEND": "config.redis.counter.CountingRedisCache",
            "LOCATION": [url.format(counter.address)],
            "OPTIONS": django_settings.REDIS_OPTIONS | {"socket_timeout": WAIT_TIMEOUT_S},
        }
    }
    stood_in = REGISTRY.get_sample_value("rate_limit_stand_in_total", {"group": "shop"}) or 0
    response = own.get(f"{SEARCH}?orderName=1")
    assert (response.status_code, response["RateLimit"].partition(";t=")[0]) == (200, '"shop";r=99')
    assert REGISTRY.get_sample_value("rate_limit_stand_in_total", {"group": "shop"}) == stood_in + 1
    assert [record.levelname for record in caplog.records if record.name == "shops.api.throttling"] == ["WARNING"]


def test_a_connection_that_answered_nonsense_is_dropped(store: Stores) -> None:
    cache = store(lambda name: b"+OK\r\n").cache()
    with pytest.raises(redis.RedisError):
        cache.count("key", 60)
    assert cache.connection._sock is None
