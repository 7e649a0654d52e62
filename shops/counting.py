"""The rate limit's counter in Redis."""

from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache
from django.utils.functional import cached_property
from redis.exceptions import NoScriptError

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
    script_digest: str = ""

    @cached_property
    def connection(self) -> Any:
        """One connection, kept for counting, and used without a client's layers.

        A client, which Django's cache makes anew for every call, takes a third of a whole look-up's CPU time. (And
        functools' `cached_property` would, before Python 3.12, let one thread at a time connect.)
        """
        options = dict(self._options)
        pool_class = options.pop("pool_class", redis.ConnectionPool)
        return pool_class.from_url(self._servers[0], **options).make_connection()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        if value != 1 or not timeout:
            return super().add(key, value, timeout, version)
        full_key = self.make_key(key, version=version)
        count = self.count(full_key, int(timeout))
        self.counted = (full_key, count)
        return count == 1

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        counted, self.counted = self.counted, None
        if counted and delta == 1 and counted[0] == self.make_key(key, version=version):
            return counted[1]
        return int(super().incr(key, delta, version))

    def count(self, key: str, timeout_s: int) -> int:
        """Count once; raise redis.RedisError or OSError.

        A connection that Redis has closed, by a restart say, is replaced once; silence is not waited for twice.
        """
        try:
            return self.run_script(key, timeout_s)
        except redis.ConnectionError:
            return self.run_script(key, timeout_s)

    def run_script(self, key: str, timeout_s: int) -> int:
        try:
            if not self.script_digest:
                self.script_digest = self.ask("SCRIPT", "LOAD", COUNT).decode()
            return int(self.ask("EVALSHA", self.script_digest, 1, key, timeout_s))
        except NoScriptError:
            return int(self.ask("EVAL", COUNT, 1, key, timeout_s))

    def ask(self, *command: str | int) -> Any:
        """Send a command and read its answer; a connection on which that went wrong is not used again.

        That holds for a server that refuses to count too: it may be a master no more.
        """
        try:
            self.connection.send_command(*command)
            return self.connection.read_response()
        except NoScriptError:
            raise
        except BaseException:
            self.connection.disconnect()
            raise
