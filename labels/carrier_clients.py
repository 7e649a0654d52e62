"""The carriers' clients, one of each a process: they hold connections, limits and circuit breakers."""

from functools import cache

from django.conf import settings

from carriers import CARRIERS
from carriers.base import Carrier, Endpoint
from carriers.guard import Limits


@cache
def client(carrier_code: str) -> Carrier:
    endpoint = Endpoint(**settings.CARRIER_ENDPOINTS[carrier_code])
    limits = Limits(timeout_s=settings.CARRIER_TIMEOUT, max_concurrent_calls=settings.CARRIER_CONCURRENCY)
    return CARRIERS[carrier_code](endpoint, limits)
