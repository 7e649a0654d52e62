"""The carriers' clients, one for each carrier and mode in a process, with their connections and circuit breakers.

Those of test shops are built from SANDBOX_URL and from no other address.
"""

from threading import Condition

from cachetools import cached
from django.conf import settings

from carriers import CARRIERS, TRACKERS
from carriers.base import Carrier, Endpoint
from carriers.client import Limits
from carriers.http.transport import NoTransport
from carriers.tracking import Tracker
from shops.contracts.metrics import CarrierMetrics, SandboxMetrics
from shops.contracts.networks import SharedNetworks


# With the condition, the first requests of a process wait for one client instead of each making its own.
@cached({}, condition=Condition())
def client(carrier_code: str, *, is_test: bool) -> Carrier:
    """Return the carrier's client; that of test shops raises CarrierUnavailable at each call without a sandbox."""
    return CARRIERS[carrier_code](
        endpoint(carrier_code, is_test=is_test),
        Limits(timeout_s=settings.CARRIER_TIMEOUT, pool_size=settings.CARRIER_CONCURRENCY),
        NoTransport("there is no sandbox for test shops") if is_test and not settings.SANDBOX_URL else None,
        SandboxMetrics() if is_test else CarrierMetrics(),
        SharedNetworks(f"sandbox {carrier_code}" if is_test else carrier_code),
    )


@cached({}, condition=Condition())
def tracker(carrier_code: str, *, is_test: bool) -> Tracker | None:
    """Return the client of the carrier's tracking service, None where it has no URL."""
    url = endpoint(carrier_code, is_test=is_test).tracking_url
    if url is None or (is_test and not settings.SANDBOX_URL):
        return None
    limits = Limits(timeout_s=settings.CARRIER_TIMEOUT, pool_size=settings.TRACKING_CONCURRENCY)
    return TRACKERS[carrier_code](url, limits, observer=SandboxMetrics() if is_test else CarrierMetrics())


def endpoint(carrier_code: str, *, is_test: bool) -> Endpoint:
    if is_test:
        return CARRIERS[carrier_code].sandbox_endpoint(settings.SANDBOX_URL)
    return Endpoint(**settings.CARRIER_ENDPOINTS[carrier_code])
