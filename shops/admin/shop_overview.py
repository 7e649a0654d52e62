"""A shop's page for whoever answers the shop: contracts, webhooks, requests and limits, and panels of other apps."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django_ratelimit.core import get_usage

from shops.api.traffic import CLASSES, FAILURES, traffic
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.staff.panels import may_view
from shops.webhooks.models import WebhookEndpoint

LISTED_AT_MOST = 20
Panel = Callable[[HttpRequest, Shop], str]


def contracts_panel(request: HttpRequest, shop: Shop) -> str:
    if not may_view(request, "shops", "carriercontract"):
        return SafeString()
    contracts = CarrierContract.objects.for_shop(shop.id).defer("encrypted_credentials")
    return render_to_string("shops/desk_contracts.html", {"shop": shop, "contracts": contracts}, request)


def webhooks_panel(request: HttpRequest, shop: Shop) -> str:
    if not may_view(request, "shops", "webhookendpoint"):
        return SafeString()
    endpoints = WebhookEndpoint.objects.for_shop(shop.id).not_revoked().defer("encrypted_secrets")
    return render_to_string(
        "shops/desk_webhooks.html", {"shop": shop, "endpoints": endpoints[:LISTED_AT_MOST]}, request
    )


def requests_panel(request: HttpRequest, shop: Shop) -> str:
    """Show the window of the rate limit as it is now, uncounted, and the week's requests."""
    days = traffic.last_days(shop.id)
    context = {
        "usage": usage(request, shop),
        "classes": CLASSES,
        "days": None if days is None else [(day, [counts.get(kind, 0) for kind in CLASSES]) for day, counts in days],
        "is_shared": traffic.is_shared,
    }
    return render_to_string("shops/desk_requests.html", context, request)


def usage(request: HttpRequest, shop: Shop) -> dict[str, Any] | None:
    """Return the requests of the window that runs now; None while the counter store does not answer."""
    limit, window_s = settings.RATE_LIMIT
    try:
        found = get_usage(request, group="shop", key=lambda *_: shop.id, rate=(limit, window_s), increment=False)
    except FAILURES:
        return None
    return {"count": found["count"] or 0, "limit": limit, "window_s": window_s, "reset_s": found["time_left"] + 1}


PANELS: list[Panel] = [requests_panel, contracts_panel, webhooks_panel]  # and what the apps above add
