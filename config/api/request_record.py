"""The record of each request: an id, a log line, a metric, and its shop's traffic."""

import logging
import random
from http import HTTPStatus

from django.conf import settings

from config.ops import metrics
from shops.api.request_ids import request_id as current
from shops.api.traffic import traffic

PROBES = {path.removeprefix("/") for path in settings.HEALTH_PATHS}  # their routes are named as their paths
BEGUN = "service.begun"  # a request's start and id in its environ, where the fast path began with it
logger = logging.getLogger("service.request")


def begin() -> str:
    """Give the request that begins in this thread an id, which its log lines have."""
    request_id = f"{random.getrandbits(128):032x}"
    current.set(request_id)
    return request_id


def record(*, route: str | None, method: str, status: int, shop_id: str | None, duration_s: float) -> None:
    """Log a request on one line and count it, by its route: nothing of it is what the client wrote."""
    metrics.request_figures(route or "none", method, status).observe(duration_s)
    if route in PROBES and status == HTTPStatus.OK:
        return  # successful probes would fill a quiet log
    if shop_id:
        traffic.note(shop_id, status)
    facts = {"method": method, "route": route, "status": status}
    logger.info("request", extra=facts | {"duration_ms": round(duration_s * 1000, 2), "shop": shop_id})
