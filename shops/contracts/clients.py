"""The carriers' clients, one for each carrier in a process, with their connections and circuit breakers."""

from threading import Condition

from cachetools import cached
from django.conf import settings

from carriers import CARRIERS, TRACKERS
from carriers.base import Carrier, Endpoint
from carriers.client import Limits
from carriers.tracking import Tracker
from shops.contracts.metrics import CarrierMetrics
from shops.contracts.networks import SharedNetworks


# With the condition, the first requests of a process wait for one client instead of each making its own.
@cached({}, condition=Condition())
def client(carrier_code: str) -> Carrier:
    endpoint = Endpoint(**settings.CARRIER_ENDPOINTS[carrier_code])
    limits = Limits(timeout_s=settings.CARRIER_TIMEOUT, pool_size=settings.CARRIER_CONCURRENCY)
    return CARRIERS[carrier_code](endpoint, limits, observer=CarrierMetrics(), networks=SharedNetworks(carrier_code))


@cached({}, condition=Condition())
def tracker(carrier_code: str) -> Tracker | None:
    """Return the client of the carrier's tracking service, None where it has no URL."""
    url = settings.CARRIER_ENDPOINTS[carrier_code]["tracking_url"]
    if url is None:
        return None
    limits = Limits(timeout_s=settings.CARRIER_TIMEOUT, pool_size=settings.TRACKING_CONCURRENCY)
    return TRACKERS[carrier_code](url, limits, observer=CarrierMetrics())
