"""The webhooks' part of the staff's first page."""

from collections.abc import Iterator

from django.http import HttpRequest

from shops.staff.base import LISTED_AT_MOST
from shops.staff.panels import Figure, Panel, Tile, list_url, may_view
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint


def panels(request: HttpRequest) -> Iterator[Panel]:
    """Make the panels of those who may see endpoints or deliveries; their tables are small or indexed."""
    if may_view(request, "shops", "webhookendpoint"):
        yield failing_endpoints()
    if may_view(request, "shops", "webhookdelivery"):
        yield dead_letters()


def failing_endpoints() -> Tile:
    counts = {
        "failing": WebhookEndpoint.objects.failing().count(),
        "disabled": WebhookEndpoint.objects.disabled().count(),
    }
    further = [
        Figure(f"{count:,} {state}", list_url("shops", "webhookendpoint", state=state))
        for state, count in counts.items()
    ]
    total = sum(counts.values())
    return Tile("Webhook endpoints that fail", Figure(f"{total:,}", is_bad=bool(total)), "", further)


def dead_letters() -> Tile:
    dead = WebhookDelivery.objects.filter(state=DeliveryState.DEAD).order_by()
    count = dead[: LISTED_AT_MOST + 1].count()
    text = f"{min(count, LISTED_AT_MOST):,}{'+' if count > LISTED_AT_MOST else ''}"
    link = list_url("shops", "webhookdelivery", state=DeliveryState.DEAD)
    return Tile("Webhook deliveries given up", Figure(text, link, is_bad=bool(count)), "Dead letters that are kept.")
