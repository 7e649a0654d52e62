"""Prometheus metrics of webhooks."""

from django.db.models import Min, Subquery
from prometheus_client import Histogram, Metric
from prometheus_client.core import GaugeMetricFamily

from shops.db import clock
from shops.db.prepared import in_index_order
from shops.webhooks.claims import due_of_endpoint
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


def queue() -> tuple[int, float]:
    """Return how many deliveries active endpoints wait for, counted up to MAX_COUNTED, and the oldest one's age."""
    waiting = WebhookDelivery.objects.queued().filter(endpoint__in=WebhookEndpoint.objects.active())
    oldest_at = waiting.aggregate(at=Min("created_at"))["at"]
    age_s = (clock.now() - oldest_at).total_seconds() if oldest_at else 0.0
    return waiting.order_by()[:MAX_COUNTED].count(), max(age_s, 0.0)


def oldest_due_s() -> float:
    """Return for how long an active endpoint with a delivery due has not been served; 0 if there is none.

    What waits for the next attempt is not due, and a slow endpoint is served again whenever it has answered.
    """
    now = clock.now()
    oldest = Subquery(due_of_endpoint(now).values("due_at")[:1])
    waiting = WebhookEndpoint.objects.active().annotate(oldest=oldest).exclude(oldest=None).order_by()
    with in_index_order():
        since = [max(served_at or at, at) for at, served_at in waiting.values_list("oldest", "served_at")]
    return (now - min(since)).total_seconds() if since else 0.0


def queue_metrics() -> list[Metric]:
    queued, oldest_s = queue()
    live = WebhookEndpoint.objects.live()
    unserved = "For how long an active endpoint with a delivery due has not been served."
    counted = f"Deliveries that active endpoints wait for, counted up to {MAX_COUNTED}."
    facts: list[tuple[str, str, float]] = [
        ("webhook_deliveries_queued", counted, queued),
        ("webhook_deliveries_oldest_seconds", "Age of the oldest of them.", oldest_s),
        ("webhook_oldest_due_seconds", unserved, oldest_due_s()),
        ("webhook_endpoints_active", "Live shops' endpoints that deliveries are made to.", live.active().count()),
        ("webhook_endpoints_failing", "Those of them whose last attempts failed.", live.failing().count()),
        ("webhook_endpoints_disabled", "Live shops' endpoints that wait for staff.", live.disabled().count()),
    ]
    return [GaugeMetricFamily(name, meaning, value=value) for name, meaning, value in facts]
