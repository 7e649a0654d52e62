"""Delivers events again, in their order and with their message ids."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from shops.db import clock
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint


def replay(deliveries: QuerySet[WebhookDelivery, Any]) -> int:
    """Queue these deliveries again, with all their attempts; those of revoked endpoints stay. Return how many.

    What is queued already is due at once.
    """
    idle = deliveries.filter(endpoint__revoked_at=None).exclude(leased_until__gt=clock.Now())
    return idle.update(state=DeliveryState.QUEUED, attempts=0, due_at=clock.Now())


def replay_since(endpoint: WebhookEndpoint, since: datetime) -> int:
    """Queue everything that the endpoint was told of since this moment again; return how many."""
    return replay(WebhookDelivery.objects.filter(endpoint=endpoint, created_at__gte=since))
