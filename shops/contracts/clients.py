"""The carriers' clients of a process, one for each carrier and mode; test shops' are made of SANDBOX_URL alone."""

import logging
from collections.abc import Mapping
from threading import Condition

from cachetools import cached
from django.conf import settings

from carriers import CARRIERS, TRACKERS
from carriers.base import Carrier, Endpoint
from carriers.client import Limits
from carriers.http.transport import NoTransport
from carriers.pickup_points import DAY_S
from carriers.tracking import Tracker
from shops.api.throttling import answering_store
from shops.api.traffic import STORE_FAILURES
from shops.contracts.metrics import CarrierMetrics, SandboxMetrics

logger = logging.getLogger("carriers.pickup_points")


class SharedPoints:
    """Pickup points that one client has shown; without Redis, or while it is away, each process knows its own."""

    def __init__(self, directory: str) -> None:
        self._prefix = f"points:{directory}:"

    def get(self, name: str, /) -> str | None:
        try:
            text = answering_store().get(self._prefix + name)
        except STORE_FAILURES:
            logger.warning("what was shown of pickup points can't be read", exc_info=True)
            return None
        return text if isinstance(text, str) else None

    def update(self, texts: Mapping[str, str], /) -> None:
        try:
            answering_store().set_many({self._prefix + name: text for name, text in texts.items()}, DAY_S)
        except STORE_FAILURES:
            logger.warning("what was shown of pickup points can't be kept", exc_info=True)


# With the condition, the first requests of a process wait for one client instead of each making its own.
@cached({}, condition=Condition())
def client(carrier_code: str, *, is_test: bool) -> Carrier:
    """Return the carrier's client; that of test shops raises CarrierUnavailable at each call without a sandbox."""
    return CARRIERS[carrier_code](
        endpoint(carrier_code, is_test=is_test),
        Limits(timeout_s=settings.CARRIER_TIMEOUT, pool_size=settings.CARRIER_CONCURRENCY),
        NoTransport("there is no sandbox for test shops") if is_test and not settings.SANDBOX_URL else None,
        SandboxMetrics() if is_test else CarrierMetrics(),
        SharedPoints(f"sandbox-{carrier_code}" if is_test else carrier_code),
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
