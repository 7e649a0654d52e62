"""The rate limit's counter under Redis Sentinel: the master is found, found again after a failover, and in time."""

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest
import redis
from django.conf import settings as django_settings

from shops.counting import CountingRedisCache
from shops.sentinel import Pool, sentinels_of
from tests.services import redis_executable

pytestmark = pytest.mark.real_services
BOUND_S = 0.2  # that a request waits at most
FAILOVER_S = 10  # that the sentinels below need at most


def free_ports(count: int) -> list[int]:
    with ExitStack() as probes:
        sockets = [probes.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in sockets]


class Redis:
    """A Redis, or a sentinel, of its own."""

    def __init__(self, folder: Path, port: int, lines: list[str], *, is_sentinel: bool = False) -> None:
        folder.mkdir()
        self.port = port
        config = folder / "redis.conf"
        config.write_text("\n".join([f"port {port}", "bind 127.0.0.1", f"dir {folder}", *lines]))
        command = [redis_executable(), str(config), *(["--sentinel"] if is_sentinel else [])]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.process.kill()
        self.process.wait()

    def ask(self, *command: str) -> Any:
        with redis.Redis(port=self.port) as client:
            return client.execute_command(*command)

    def wait_for(self, *command: str, until: Any) -> None:
        deadline = time.monotonic() + FAILOVER_S
        while True:
            try:
                answer = self.ask(*command)
            except redis.RedisError:
                answer = None
            if until(answer):
                return
            assert time.monotonic() < deadline, (command, answer)


class World:
    """A master, its replica and three sentinels."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        ports = free_ports(5)
        keep_nothing = ['save ""', "appendonly no"]
        follow = [f"replicaof 127.0.0.1 {ports[0]}", "repl-diskless-sync yes", "repl-diskless-sync-delay 0"]
        self.servers = [
            stack.enter_context(Redis(folder / f"redis-{number}", ports[number], [*keep_nothing, *lines]))
            for number, lines in enumerate(([], follow))
        ]
        self.servers[1].wait_for("ROLE", until=lambda role: role and role[3] == b"connected")
        watch = [
            f"sentinel monitor main 127.0.0.1 {ports[0]} 2",
            "sentinel down-after-milliseconds main 400",
            "sentinel failover-timeout main 2000",
        ]
        self.sentinels = [
            stack.enter_context(Redis(folder / f"sentinel-{port}", port, watch, is_sentinel=True)) for port in ports[2:]
        ]
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports[2:])
        self.url = f"redis+sentinel://{hosts}/main/1"

    def wait_for_discovery(self) -> None:
        """Let the sentinels find the replica and each other, without which they can't fail over."""
        for sentinel in self.sentinels:
            for command in ("REPLICAS", "SENTINELS"):
                count = 1 if command == "REPLICAS" else 2
                sentinel.wait_for("SENTINEL", command, "main", until=lambda found, n=count: len(found or []) == n)

    def cache(self) -> CountingRedisCache:
        """A thread's own way to the counter."""
        return CountingRedisCache([self.url], {"OPTIONS": django_settings.REDIS_OPTIONS})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(tmp_path, stack)


def count(cache: CountingRedisCache) -> int | None:
    """Count as a request does, in the time that it has; None where it is let through uncounted."""
    started_at = time.monotonic()
    try:
        cache.add("key", 1, 60)
        return cache.incr("key")
    except (redis.RedisError, OSError):
        return None
    finally:
        assert time.monotonic() - started_at < BOUND_S + 0.1  # for a busy machine


def count_until_counted(cache: CountingRedisCache) -> int:
    deadline = time.monotonic() + FAILOVER_S
    while (counted := count(cache)) is None:
        assert time.monotonic() < deadline, "no master was found"
        time.sleep(0.02)
    return counted


def test_the_master_is_found_and_found_again_after_a_failover(world: World) -> None:
    world.wait_for_discovery()
    first, second = world.cache(), world.cache()
    assert [count(first), count(second), count(first)] == [1, 2, 3]
    world.servers[0].process.kill()
    assert count_until_counted(first) >= 1
    assert count_until_counted(second) >= 2
    assert world.servers[1].ask("ROLE")[0] == b"master"


def test_a_silent_master_is_not_waited_for(world: World) -> None:
    cache = world.cache()
    assert count(cache) == 1
    world.servers[0].process.send_signal(signal.SIGSTOP)
    assert count(cache) is None  # `count` measures
    assert count(cache) is None


def test_a_master_that_was_demoted_is_left(world: World) -> None:
    cache = world.cache()
    assert count(cache) == 1
    # Behind the sentinels' back, so that they do not cut the connections.
    world.servers[1].ask("REPLICAOF", "NO", "ONE")
    world.servers[0].ask("REPLICAOF", "127.0.0.1", str(world.servers[1].port))
    assert count(cache) is None
    assert cache.connection._sock is None


@pytest.mark.parametrize("what", [signal.SIGKILL, signal.SIGSTOP])
def test_a_sentinel_that_is_gone_or_silent_is_asked_last(what: signal.Signals, world: World) -> None:
    sentinels = Pool.from_url(world.url).connection_kwargs["sentinels"]
    asked_first = sentinels.addresses[0][1]
    for sentinel in world.sentinels:
        if sentinel.port == asked_first:
            sentinel.process.send_signal(what)
            if what == signal.SIGKILL:
                sentinel.process.wait()
    assert count_until_counted(world.cache()) == 1
    assert sentinels.addresses[-1][1] == asked_first
    assert count(world.cache()) == 2


def test_a_master_unknown_to_the_sentinels_is_an_error(world: World) -> None:
    cache = CountingRedisCache([world.url.replace("/main/", "/none/")], {"OPTIONS": django_settings.REDIS_OPTIONS})
    assert count(cache) is None


def test_credentials_and_databases_are_passed_on() -> None:
    url = "rediss+sentinel://us%20er:p%40ss@s1,s2:26380/main/3?sentinel_username=su&sentinel_password=sp"
    options = Pool.from_url(url, socket_timeout=0.1).connection_kwargs
    assert (options["username"], options["password"], options["db"]) == ("us er", "p@ss", 3)
    assert options["sentinel_options"] == {"username": "su", "password": "sp", "socket_timeout": 0.05}
    assert options["sentinels"] is sentinels_of((("s1", 26379), ("s2", 26380)), "main")
