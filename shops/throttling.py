"""The rate limit: a fixed window per shop, over all its tokens and endpoints; without a valid token, per address."""

import ipaddress
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from shops import metrics
from shops.errors.exceptions import ApiError
from shops.errors.plain import LIMIT_EXCEEDED

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module, through DRF's settings

# After a failure the counter is not asked for this long, so that a dead store delays one request, not every request.
BACK_OFF_S = 1.0
UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104 - no address to listen on; requests without an address share its window
logger = logging.getLogger("shops.throttling")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


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
        usage = count(request._request, group="shop", key=str(request.user.pk))
        request._request.rate_limit_headers = usage.headers  # type: ignore[attr-defined]  # for the middleware
        usage.check()
        return True


def count_refusal(request: Request) -> None:
    """Count a request without a valid token against its address; raise ApiError beyond the limit."""
    count(request._request, group="address", key=client_address(request._request)).check()


def count(request: HttpRequest, *, group: str, key: str) -> Usage:
    """Count a request; if the counter fails, let the request through within the deadline, and log it."""
    limit, window_s = settings.RATE_LIMIT
    uncounted = Usage(limit=limit, window_s=window_s, remaining=limit, reset_s=window_s)
    if back_off.is_active:
        back_off.let_through += 1
        metrics.LET_THROUGH.labels(group).inc()
        return uncounted
    try:
        usage = get_usage(request, group=group, key=lambda *_: key, rate=(limit, window_s), increment=True)
    except (RedisError, OSError):
        back_off.begin()
        metrics.FAILURES.labels(group).inc()
        metrics.LET_THROUGH.labels(group).inc()
        let_through = {"let_through": back_off.let_through}
        logger.warning("rate limit not counted: the counter store did not answer", extra=let_through, exc_info=True)
        return uncounted
    if usage["should_limit"]:
        metrics.REFUSALS.labels(group).inc()
    return Usage(
        limit=limit,
        window_s=window_s,
        remaining=max(0, limit - usage["count"]),
        reset_s=max(1, usage["time_left"] + 1),  # the window's last second still belongs to it
        is_exceeded=usage["should_limit"],
    )


class BackOff:
    """The time after a failure in which this process does not ask the counter.

    `let_through` is the number of requests let through uncounted since the process started; the log line of each
    failure reports it.
    """

    def __init__(self) -> None:
        self.until = 0.0
        self.let_through = 0

    @property
    def is_active(self) -> bool:
        return time.monotonic() < self.until

    def begin(self) -> None:
        self.until = time.monotonic() + BACK_OFF_S
        self.let_through += 1


back_off = BackOff()


def client_address(request: HttpRequest) -> str:
    """Return the client's address. Entries left of the trusted proxies' are not trusted, as a client may forge them."""
    ip = forwarded_address(request) or parse_address(request.META.get("REMOTE_ADDR", ""))
    if isinstance(ip, ipaddress.IPv6Address):
        # A client that has one IPv6 address has its whole /64.
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False).network_address)
    return str(ip or UNKNOWN_ADDRESS)


def forwarded_address(request: HttpRequest) -> Address | None:
    """Return the address that the outermost trusted proxy reported; None if it is missing or unreadable.

    The server passes a header that is not ASCII on as an empty one.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if not 0 < settings.TRUSTED_PROXIES <= len(forwarded):
        return None
    return parse_address(without_port(forwarded[-settings.TRUSTED_PROXIES].strip()))


def parse_address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def without_port(address: str) -> str:
    """Remove the client's port, which some proxies add: ``192.0.2.1:4711``, ``[2001:db8::1]:4711``."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    host, _, port = address.partition(":")
    return host if port.isdigit() else address
