"""The service's settings, for servers that wait for Redis on a busy machine, too, so that counts are exact."""

from config.settings import *  # noqa: F403 - all of them
from config.settings import REDIS_OPTIONS

REDIS_OPTIONS["socket_timeout"] = 30.0
