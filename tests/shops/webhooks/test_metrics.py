"""The gauges of webhooks: what is due and not sent is told apart from what waits for its next attempt."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from shops.models import Shop
from shops.webhooks import endpoints
from shops.webhooks.delivering import deliver_due
from shops.webhooks.metrics import queue_metrics
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.shops.webhooks.receivers import Receiver, tell_and_deliver, tell_label
from tests.support.factories import ShopFactory


def gauge(name: str) -> float:
    return {sample.name: sample.value for metric in queue_metrics() for sample in metric.samples}[name]


def ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.fixture
def waiting(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """An endpoint with two deliveries, due for five minutes and for one."""
    for subject, due_s in (("one", 300), ("two", 60)):
        tell_label(endpoint.shop_id, subject)
        WebhookDelivery.objects.filter(subject=subject).update(due_at=ago(due_s))
    return endpoint


def test_what_is_due_and_not_sent_has_an_age(waiting: WebhookEndpoint) -> None:
    assert 300 <= gauge("webhook_oldest_due_seconds") < 330


def test_what_was_delivered_is_not_due(waiting: WebhookEndpoint) -> None:
    assert deliver_due() == 2
    assert gauge("webhook_oldest_due_seconds") == 0


def test_a_slow_endpoint_is_served_whenever_it_has_answered(waiting: WebhookEndpoint) -> None:
    WebhookEndpoint.objects.update(served_at=ago(10))
    assert 10 <= gauge("webhook_oldest_due_seconds") < 40


def test_the_endpoint_that_nobody_serves_counts_whatever_others_get(waiting: WebhookEndpoint, shop: Shop) -> None:
    served, _ = endpoints.create(shop=shop, url=waiting.url)
    tell_label(shop.id, "three")
    WebhookEndpoint.objects.filter(id=served.id).update(served_at=timezone.now())
    assert gauge("webhook_oldest_due_seconds") >= 300


def test_what_waits_for_its_next_attempt_is_not_due(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    receiver.status = 500
    tell_and_deliver(endpoint.shop_id)
    assert (gauge("webhook_deliveries_queued"), gauge("webhook_oldest_due_seconds")) == (1, 0)
    assert (gauge("webhook_endpoints_active"), gauge("webhook_endpoints_failing")) == (1, 1)


def test_a_paused_endpoint_has_nothing_due(waiting: WebhookEndpoint) -> None:
    WebhookEndpoint.objects.update(is_paused=True, failing_since=timezone.now())
    assert gauge("webhook_oldest_due_seconds") == 0
    assert (gauge("webhook_endpoints_active"), gauge("webhook_endpoints_failing")) == (0, 0)


def test_endpoints_of_test_shops_raise_no_alert(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    for facts in ({}, {"failing_since": timezone.now()}, {"disabled_at": timezone.now()}):
        made, _ = endpoints.create(shop=ShopFactory(is_test=True), url=receiver.url)
        WebhookEndpoint.objects.filter(id=made.id).update(**facts)
    counts = [gauge(f"webhook_endpoints_{state}") for state in ("active", "failing", "disabled")]
    assert counts == [1, 0, 0]
