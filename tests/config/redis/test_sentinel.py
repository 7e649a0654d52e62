"""The rate limit's counter under Redis Sentinel: it finds the master, after a fail-over too, and in time."""

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis
from django.conf import settings as django_settings

from config.redis.connections import Pool, sentinels_of
from config.redis.counter import CountingRedisCache
from tests.support.certificates import self_signed
from tests.support.sentinels import World
from tests.support.waiting import until

pytestmark = pytest.mark.real_services
WAIT_TIMEOUT_S = 30.0
BOUND_S = 45.0  # generous for a busy machine; without timeouts a silent server would block for ever


class Counters(World):
    """Redis servers, and caches that count in them."""

    def cache(self, **options: float) -> CountingRedisCache:
        """Return a cache as one thread has it."""
        return CountingRedisCache([self.url], {"OPTIONS": django_settings.REDIS_OPTIONS | options})

    def slow_cache(self) -> CountingRedisCache:
        """Return a cache whose timeout suits a busy machine."""
        return self.cache(socket_timeout=WAIT_TIMEOUT_S)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Counters]:
    with ExitStack() as stack:
        yield Counters(tmp_path, stack)


def count(cache: CountingRedisCache) -> int | None:
    """Count as a request does, in the time that it has; return None if the store does not answer."""
    started_at = time.monotonic()
    try:
        return cache.count("key", 60)
    except (redis.RedisError, OSError):
        return None
    finally:
        assert time.monotonic() - started_at < BOUND_S


def count_until_counted(cache: CountingRedisCache) -> int:
    return until(lambda: count(cache)) or 0


def test_the_master_is_found_and_found_again_after_a_failover(world: Counters) -> None:
    world.wait_for_discovery()
    first, second = world.slow_cache(), world.slow_cache()
    assert [count(first), count(second), count(first)] == [1, 2, 3]
    world.servers[0].kill()
    for sentinel in world.sentinels:  # not before: on a busy machine the master may be late
        sentinel.ask("SENTINEL", "SET", "main", "down-after-milliseconds", "1000", "failover-timeout", "5000")
    assert count_until_counted(first) >= 1
    assert count_until_counted(second) >= 2
    assert world.servers[1].ask("ROLE")[0] == b"master"


def test_a_silent_master_times_out(world: Counters) -> None:
    cache = world.cache()
    count_until_counted(cache)
    world.servers[0].popen.send_signal(signal.SIGSTOP)
    assert count(cache) is None  # `count` checks the duration
    assert count(cache) is None


def test_the_connection_to_a_demoted_master_is_dropped(world: Counters) -> None:
    cache = world.cache()
    count_until_counted(cache)
    # Not by way of the sentinels, which would cut the connections.
    world.servers[1].ask("REPLICAOF", "NO", "ONE")
    world.servers[0].ask("REPLICAOF", "127.0.0.1", str(world.servers[1].port))
    assert count(cache) is None
    assert cache.connection._sock is None


@pytest.mark.parametrize(
    ("what", "timeout_s", "counted"), [(signal.SIGKILL, WAIT_TIMEOUT_S, 1), (signal.SIGSTOP, 1, None)]
)
def test_a_sentinel_that_is_gone_or_silent_is_asked_last(
    what: signal.Signals, timeout_s: float, counted: int | None, world: Counters
) -> None:
    sentinels = Pool.from_url(world.url).connection_kwargs["sentinels"]
    asked_first = sentinels.addresses[0][1]
    for sentinel in world.sentinels:
        if sentinel.port == asked_first:
            sentinel.popen.send_signal(what)
            if what == signal.SIGKILL:
                sentinel.popen.wait()
    assert count(world.cache(socket_timeout=timeout_s)) == counted  # silence uses up the deadline
    assert sentinels.addresses[-1][1] == asked_first
    assert count(world.slow_cache()) == (counted or 0) + 1


def test_a_master_unknown_to_the_sentinels_is_an_error(world: Counters) -> None:
    cache = CountingRedisCache([world.url.replace("/main/", "/none/")], {"OPTIONS": django_settings.REDIS_OPTIONS})
    assert count(cache) is None


def test_credentials_and_databases_are_passed_on() -> None:
    url = "rediss+sentinel://us%20er:p%40ss@s1,s2:26380/main/3?sentinel_username=su&sentinel_password=sp"
    options = Pool.from_url(url, socket_timeout=0.1).connection_kwargs
    assert (options["username"], options["password"], options["db"]) == ("us er", "p@ss", 3)
    assert options["sentinel_options"] == {"username": "su", "password": "sp", "socket_timeout": 0.1}
    assert options["sentinels"] is sentinels_of((("s1", 26379), ("s2", 26380)), "main")


def test_an_authority_of_ones_own_is_that_of_the_sentinels_too(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path / "certificate.pem")
    options = Pool.from_url(f"rediss+sentinel://s1/main/0?ssl_ca_certs={certificate}").connection_kwargs
    assert options["ssl_ca_certs"] == options["sentinel_options"]["ssl_ca_certs"] == str(certificate)
