"""Prometheus metrics of webhooks."""

from collections import Counter as Count

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


def attempts_by_outcome() -> Count[str]:
    """Return the attempts since the start of this process: delivered, or failed."""
    found: Count[str] = Count()
    for metric in ATTEMPTS.collect():
        for sample in metric.samples:
            if sample.name.endswith("_count"):
                found[DELIVERED if sample.labels["outcome"] == DELIVERED else "failed"] += int(sample.value)
    return found


def queue() -> tuple[int, float]:
    """Return how many deliveries active endpoints wait for, counted up to MAX_COUNTED, and the oldest one's age."""
    waiting = WebhookDelivery.objects.queued().filter(endpoint__in=WebhookEndpoint.objects.active())
    oldest_at = waiting.aggregate(at=Min("created_at"))["at"]
    age_s = (clock.now() - oldest_at).total_seconds() if oldest_at else 0.0
    return waiting.order_by()[:MAX_COUNTED].count(), max(age_s, 0.0)


def queue_metrics() -> list[Metric]:
    """Measure the queue in the database."""
    queued, oldest_s = queue()
    disabled = WebhookEndpoint.objects.not_revoked().exclude(disabled_at=None)
    return [
        GaugeMetricFamily(
            "webhook_deliveries_queued",
            f"Deliveries that active endpoints wait for, counted up to {MAX_COUNTED}.",
            value=queued,
        ),
        GaugeMetricFamily("webhook_deliveries_oldest_seconds", "Age of the oldest of them.", value=oldest_s),
        GaugeMetricFamily("webhook_endpoints_disabled", "Endpoints that wait for staff.", value=disabled.count()),
    ]
