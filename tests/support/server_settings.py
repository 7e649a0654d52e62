"""The service's settings for servers in tests: they wait for Redis on a busy machine, so that counts are exact."""

from config.settings import REDIS_OPTIONS
from tests.support.quick_settings import *  # noqa: F403 - all of them
from tests.support.waiting import WAIT_TIMEOUT_S

REDIS_OPTIONS["socket_timeout"] = WAIT_TIMEOUT_S
