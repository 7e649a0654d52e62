"""A shop's page for whoever answers the shop: contracts, webhooks, requests and limits, and panels of other apps."""

from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django_ratelimit.core import get_usage

from shops.api.traffic import CLASSES, STORE_FAILURES, traffic
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.staff.days import today
from shops.staff.display_texts import short_name
from shops.staff.filters import NONE
from shops.webhooks.models import WebhookEndpoint

LISTED_AT_MOST = 20
COUNTED_AT_MOST = 5000
Panel = Callable[[HttpRequest, Shop], str]


def contracts_panel(request: HttpRequest, shop: Shop) -> str:
    contracts = CarrierContract.objects.for_shop(shop.id).defer("encrypted_credentials")
    return render_to_string("shops/desk_contracts.html", {"shop": shop, "contracts": contracts}, request)


def webhooks_panel(request: HttpRequest, shop: Shop) -> str:
    endpoints = WebhookEndpoint.objects.for_shop(shop.id).not_revoked().defer("encrypted_secrets")
    context = {"shop": shop, "endpoints": endpoints[:LISTED_AT_MOST]}
    return render_to_string("shops/desk_webhooks.html", context, request)


def requests_panel(request: HttpRequest, shop: Shop) -> str:
    """Show the window of the rate limit as it is now, uncounted, and the week's requests."""
    days = traffic.last_days(shop.id)
    context = {
        "usage": usage(request, shop),
        "classes": CLASSES,
        "days": None if days is None else [(day, [counts.get(kind, 0) for kind in CLASSES]) for day, counts in days],
        "is_shared": bool(settings.REDIS_URL),
    }
    return render_to_string("shops/desk_requests.html", context, request)


def usage(request: HttpRequest, shop: Shop) -> dict[str, Any] | None:
    """Return the requests of the window that runs now; None while the counter store does not answer."""
    limit, window_s = settings.RATE_LIMIT
    try:
        found = get_usage(request, group="shop", key=lambda *_: shop.id, rate=(limit, window_s), increment=False)
    except STORE_FAILURES:
        return None
    return {"count": found["count"] or 0, "limit": limit, "window_s": window_s, "reset_s": found["time_left"] + 1}


# Each for those who may see rows of its model; the apps above add theirs.
PANELS: list[tuple[str, str, Panel]] = [
    ("shops", "shop", requests_panel),
    ("shops", "carriercontract", contracts_panel),
    ("shops", "webhookendpoint", webhooks_panel),
]


def first_day() -> date:
    """Return the first of the last 7 days, today among them, as the lists' filters count days."""
    return today() - timedelta(days=6)


def week_panel(title: str, values: QuerySet[Any, Any], *, view: str, parameter: str, shop_id: str) -> str:
    """Render the counts of the newest rows; `values` are those of one column since the first day, the newest first."""
    newest = list(values[: COUNTED_AT_MOST + 1])
    counts = Counter(newest[:COUNTED_AT_MOST])
    query = {"shop__id__exact": shop_id, "created_from": first_day().isoformat()}
    rows = [
        (
            short_name(value) if value else gettext("No status yet"),
            count,
            reverse(f"admin:{view}", query=query | {parameter: value or NONE}),
        )
        for value, count in counts.most_common()
    ]
    context = {"title": title, "rows": rows, "is_capped": len(newest) > COUNTED_AT_MOST, "counted": COUNTED_AT_MOST}
    return render_to_string("shops/desk_week.html", context)
