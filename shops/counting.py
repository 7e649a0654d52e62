"""The rate limit's counter in Redis."""

from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache
from django.utils.functional import cached_property
from redis.commands.core import Script

# Makes the key with 0 unless it is there, and counts: one step in the store, one round trip.
COUNT = """
redis.call('SET', KEYS[1], 0, 'EX', ARGV[1], 'NX')
return redis.call('INCR', KEYS[1])
"""


class CountingRedisCache(RedisCache):
    """Django's Redis cache, where ``add(key, 1)`` followed by ``incr(key)`` asks Redis once instead of twice.

    That pair is how django-ratelimit counts. `add` counts at once and keeps the result; `incr` hands it out.
    Django gives each thread its own instance of a cache, so an instance is never used by two at once.
    """

    _servers: list[str]  # Django's
    _options: dict[str, Any]  # Django's
    counted: tuple[str, int] | None = None

    @cached_property
    def count(self) -> Script:
        """The script, on one connection kept for it.

        Django's cache makes a new client for every call, which takes a third of a whole look-up's CPU time.
        (Django's `cached_property`: functools' own, before Python 3.12, lets one thread at a time connect.)
        """
        client = redis.Redis.from_url(self._servers[0], single_connection_client=True, **self._options)
        return client.register_script(COUNT)

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        if value != 1 or not timeout:
            return super().add(key, value, timeout, version)
        full_key = self.make_key(key, version=version)
        count = int(self.count(keys=[full_key], args=[int(timeout)]))
        self.counted = (full_key, count)
        return count == 1

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        counted, self.counted = self.counted, None
        if counted and delta == 1 and counted[0] == self.make_key(key, version=version):
            return counted[1]
        return int(super().incr(key, delta, version))
