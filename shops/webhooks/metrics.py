"""Prometheus metrics of webhooks."""

from django.db.models import Min
from prometheus_client import Histogram, Metric
from prometheus_client.core import GaugeMetricFamily

from shops.db import clock
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint

ATTEMPT_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20)
MAX_COUNTED = 10_000
DELIVERED = "delivered"

ATTEMPTS = Histogram(
    "webhook_attempt_duration_seconds",
    "Attempts to deliver webhooks, by outcome: delivered, or the reason of the failure.",
    ["outcome"],
    buckets=ATTEMPT_BUCKETS_S,
)


def queue_metrics() -> list[Metric]:
    """Measure the queue of active endpoints, in the database; the count stops at MAX_COUNTED."""
    active = WebhookEndpoint.objects.active()
    waiting = WebhookDelivery.objects.queued().filter(endpoint__in=active)
    oldest_at = waiting.aggregate(at=Min("created_at"))["at"]
    age_s = (clock.now() - oldest_at).total_seconds() if oldest_at else 0.0
    disabled = WebhookEndpoint.objects.not_revoked().exclude(disabled_at=None)
    return [
        GaugeMetricFamily(
            "webhook_deliveries_queued",
            f"Deliveries that active endpoints wait for, counted up to {MAX_COUNTED}.",
            value=waiting.order_by()[:MAX_COUNTED].count(),
        ),
        GaugeMetricFamily("webhook_deliveries_oldest_seconds", "Age of the oldest of them.", value=max(age_s, 0)),
        GaugeMetricFamily("webhook_endpoints_disabled", "Endpoints that wait for staff.", value=disabled.count()),
    ]
