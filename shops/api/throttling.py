"""The rate limit: a fixed window per shop, over all its tokens and endpoints; without a valid token, per address."""

import ipaddress
import logging
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.cache import BaseCache, caches
from django.http import HttpRequest
from django_ratelimit import ALL
from django_ratelimit.core import EXPIRATION_FUDGE, _get_window, _make_cache_key
from prometheus_client import Counter
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import LIMIT_EXCEEDED
from shops.api.traffic import STORE_FAILURES

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module, through DRF's settings

# After a failure the counter is not asked for this long, so that a dead store delays one request, not every request.
BACK_OFF_S = 1.0
asked_again_at = 0.0  # monotonic; until then the counter, which has failed, is not asked
# Where the WSGI environment has the usage of a request that was counted before Django got it.
USAGE_KEY = "service.usage"
NETWORK_PREFIXES = {4: 24, 6: 48}  # of what one customer of a provider may hold
UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104 - no address to listen on; requests without an address share its window  # nosec B104
# The counter's name as django-ratelimit has it, which makes it anew each time; a shop's is the same for a window.
name_of = lru_cache(maxsize=10_000)(_make_cache_key)
REFUSALS = Counter(
    "rate_limit_refusals_total", "Requests refused with 429, by whether the shop or the address was counted.", ["group"]
)
STAND_IN = Counter(
    "rate_limit_stand_in_total", "Requests counted by one process alone, without the counter store.", ["group"]
)
FAILURES = Counter("rate_limit_failures_total", "Times the counter was asked and did not answer.", ["group"])
logger = logging.getLogger("shops.api.throttling")


@dataclass(frozen=True)
class Usage:
    """The state of a window; `reset_s` whole seconds later the next one has begun."""

    limit: int
    window_s: int
    remaining: int
    reset_s: int
    is_exceeded: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Policy": f'"shop";q={self.limit};w={self.window_s}',
            "RateLimit": f'"shop";r={self.remaining};t={self.reset_s}',
        }

    def check(self) -> None:
        """Raise ApiError (429) when the window is used up."""
        if self.is_exceeded:
            retry_in = f"{self.reset_s} second{'' if self.reset_s == 1 else 's'}"
            facts = {"limit": self.limit, "window_s": self.window_s, "retry_in": retry_in}
            raise ApiError(LIMIT_EXCEEDED, wait=self.reset_s, **facts)


class ShopThrottle(BaseThrottle):
    """Counts each request of a shop, exactly, across threads and (with Redis) across processes."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        usage = request.META.get(USAGE_KEY) or count(group="shop", key=str(request.user.pk))
        request._request.rate_limit_headers = usage.headers  # type: ignore[attr-defined]  # for the middleware
        usage.check()
        return True


def count_refusal(request: Request) -> None:
    """Count a request without a valid token against its address and network; raise ApiError beyond a limit."""
    limit, _ = settings.RATE_LIMIT
    address = client_address(request)
    count(group="address", key=address, limit=limit).check()
    if ":" in address:
        count(group="network", key=network_address(address), limit=10 * limit).check()  # a /48


def network_address(address: str) -> str:
    version = 6 if ":" in address else 4
    return str(ipaddress.ip_network((address, NETWORK_PREFIXES[version]), strict=False).network_address)


def count(*, group: str, key: str, limit: int | None = None, window_s: int | None = None) -> Usage:
    """Count a request; within the deadline, and in this process alone while the counter store does not answer."""
    default_limit, default_window_s = settings.RATE_LIMIT
    limit, window_s = limit or default_limit, window_s or default_window_s
    ends_at = _get_window(key, window_s)
    name = name_of(group, ends_at, (limit, window_s), key, ALL)
    counted = shared_count(group, name, window_s)
    if counted is None:
        STAND_IN.labels(group).inc()
        counted = count_in(caches["default"], name, window_s)
    reset_s = max(1, ends_at - int(time.time()) + 1)  # the window's last second still belongs to it
    usage = Usage(limit, window_s, max(0, limit - counted), reset_s, is_exceeded=counted > limit)
    if usage.is_exceeded:
        REFUSALS.labels(group).inc()
    return usage


def answering_store() -> BaseCache:
    """Return the store that all processes share; for a moment after it did not count, this process's own."""
    return caches["default" if time.monotonic() < asked_again_at else "rate_limit"]


def shared_count(group: str, name: str, window_s: int) -> int | None:
    """Count in the store that all processes share; None if it does not answer, which is logged."""
    global asked_again_at  # noqa: PLW0603 - one value, replaced as a whole
    if time.monotonic() < asked_again_at:
        return None
    try:
        return count_in(caches["rate_limit"], name, window_s)
    except STORE_FAILURES:
        asked_again_at = time.monotonic() + BACK_OFF_S
        FAILURES.labels(group).inc()
        logger.warning("the counter store did not answer: each process counts for itself", exc_info=True)
        return None


def count_in(cache: Any, name: str, window_s: int) -> int:
    """Count as django-ratelimit does, in one round trip where the store has a command for it."""
    timeout_s = window_s + EXPIRATION_FUDGE
    if hasattr(cache, "count"):
        return int(cache.count(name, timeout_s))
    return 1 if cache.add(name, 1, timeout_s) else int(cache.incr(name))


def client_address(request: HttpRequest) -> str:
    """Return the client's address. Entries left of the trusted proxies' are not trusted, as a client may forge them."""
    # That of the outermost trusted proxy's entry; None if it is missing, unreadable or not ASCII.
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    has_entry = 0 < settings.TRUSTED_PROXIES <= len(forwarded)
    ip = parse_address(forwarded[-settings.TRUSTED_PROXIES].strip()) if has_entry else None
    ip = ip or parse_address(request.META.get("REMOTE_ADDR", ""))
    if isinstance(ip, ipaddress.IPv6Address):
        # A client that has one IPv6 address has its whole /64.
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False).network_address)
    return str(ip or UNKNOWN_ADDRESS)


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an address without the client's port, which some proxies add: ``192.0.2.1:4711``, ``[2001:db8::1]:4711``."""
    host, _, port = text[1:].partition("]") if text.startswith("[") else text.partition(":")
    try:
        return ipaddress.ip_address(host if text.startswith("[") or port.isdigit() else text)
    except ValueError:
        return None
