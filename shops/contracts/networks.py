"""The networks of the pickup points that were shown, in the counter's Redis, where all processes find them."""

import logging
from collections.abc import Mapping
from typing import Any, Final

import redis
from django.core.cache import caches

from carriers.pickup_points import DAY_S, Key

FAILURES: Final = (redis.RedisError, OSError)
logger = logging.getLogger("carriers.pickup_points")


class SharedNetworks:
    """The networks of one directory's points; without Redis, or while it is down, each process knows its own only."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def get(self, key: Key) -> str:
        try:
            (found,) = self._store.read_counts([self._name(key)]) if self._store else [{}]
        except FAILURES:
            logger.warning("the network of a pickup point can't be read", exc_info=True)
            return ""
        return next(iter(found), "")

    def add(self, networks: Mapping[Key, str]) -> None:
        try:
            for key, network in networks.items() if self._store else ():
                self._store.add_counts(self._name(key), {network: 1}, DAY_S)
        except FAILURES:
            logger.warning("the networks of pickup points can't be kept", exc_info=True)

    def _name(self, key: Key) -> str:
        return ":".join(("network", self._directory, *key))

    @property
    def _store(self) -> Any:
        cache = caches["rate_limit"]
        return cache if hasattr(cache, "add_counts") else None
