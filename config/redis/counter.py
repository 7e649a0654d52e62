"""The rate limit's counter: one round trip to Redis for each request, two for the first of a window."""

from operator import index
from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache
from django.utils.functional import cached_property

from carriers.http.connections import Deadline


class CountingRedisCache(RedisCache):
    """Django's Redis cache, one for each thread; counts in one command where django-ratelimit would send two."""

    def __init__(self, servers: list[str], params: dict[str, Any]) -> None:
        super().__init__(servers, params)
        self.url, self.options = servers[0], params["OPTIONS"]
        self.deadline = Deadline(self.options["socket_timeout"])  # for connecting and all commands of a count

    @cached_property
    def connection(self) -> Any:
        """One connection, kept open and used without redis-py's client.

        Django's cache creates a client for every call, which takes a third of a look-up's CPU time. (Before Python
        3.12 functools' `cached_property` would let only one thread at a time connect.)
        """
        options = {name: value for name, value in self.options.items() if name not in {"pool_class", "serializer"}}
        return self.options["pool_class"].from_url(self.url, deadline=self.deadline, **options).make_connection()

    def count(self, key: str, timeout_s: int) -> int:
        """Count once, anew if Redis closed the connection; raise redis.RedisError or OSError by the one deadline."""
        self.deadline.begin()
        full_key = self.make_key(key)
        try:
            return self.increment(full_key, timeout_s)
        except redis.ConnectionError:
            return self.increment(full_key, timeout_s)

    def increment(self, key: str, timeout_s: int) -> int:
        """Count; the first to count says when the key goes. If that fails, the key stays: one for a window at most."""
        counted = self.ask("INCR", key)
        if counted == 1:
            self.ask("EXPIRE", key, timeout_s)
        return counted

    def ask(self, *command: str | int) -> int:
        """Send a command and read its answer, a number; on any error, as of no master's server, disconnect."""
        try:
            self.connection.send_command(*command)
            return index(self.connection.read_response())  # a TypeError for what is none
        except (AttributeError, TypeError, ValueError) as error:  # unreadable answers, a sentinel's included
            self.connection.disconnect()
            raise redis.InvalidResponse("the answer can't be read") from error
        except BaseException:
            self.connection.disconnect()
            raise
