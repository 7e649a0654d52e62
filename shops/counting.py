"""The rate limit's counter in Redis."""

import threading
from typing import Any

from django.core.cache.backends.redis import RedisCache

# Makes the key with 0 unless it is there, and counts: one step in the store, one round trip.
COUNT = """
redis.call('SET', KEYS[1], 0, 'EX', ARGV[1], 'NX')
return redis.call('INCR', KEYS[1])
"""


class CountingRedisCache(RedisCache):
    """Django's Redis cache, where ``add(key, 1)`` followed by ``incr(key)`` asks Redis once instead of twice.

    That pair is how django-ratelimit counts. `add` counts at once and keeps the result; `incr` hands it out.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.counted = threading.local()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        if value != 1 or not timeout:
            return super().add(key, value, timeout, version)
        full_key = self.make_and_validate_key(key, version=version)
        client = self._cache.get_client(full_key, write=True)
        count = client.eval(COUNT, 1, full_key, int(timeout))
        self.counted.last = (full_key, count)
        return bool(count == 1)

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        full_key, count = self.counted.__dict__.pop("last", (None, 0))
        if delta == 1 and full_key == self.make_and_validate_key(key, version=version):
            return int(count)
        return int(super().incr(key, delta, version))
