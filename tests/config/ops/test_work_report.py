"""The background process's line a minute."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config.ops.work_report import Report
from shops.webhooks import claims, delivering, endpoints
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from shops.webhooks.sending import Outcome
from tests.shops.webhooks.receivers import tell_label
from tests.support.factories import ShopFactory


@pytest.mark.django_db
def test_it_tells_what_webhooks_were_delivered_since_the_last_and_how_many_wait_how_long(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    shop = ShopFactory()
    endpoints.create(shop=shop, url="http://127.0.0.1:9999/")
    WebhookEndpoint.objects.update(is_slow=False)  # a new one has fewer attempts at once
    report = Report()

    def line() -> dict[str, int]:
        caplog.clear()
        with caplog.at_level(logging.INFO, "service.work"):
            report.write()
        names = ("queued", "oldest_s", "delivered", "failed")
        return {name: getattr(caplog.records[-1], f"webhooks_{name}") for name in names}

    line()
    assert line() == {"queued": 0, "oldest_s": 0, "delivered": 0, "failed": 0}
    for number in range(4):
        tell_label(shop.id, f"label-{number}")
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(seconds=90))
    reasons = ("", "", "timeout", "http_5xx")
    delivering.record(Outcome(each, None, reason, 0.1) for each, reason in zip(claims.claim(10), reasons, strict=True))
    found = line()
    assert found.pop("oldest_s") in range(90, 120)
    assert found == {"queued": 2, "delivered": 2, "failed": 2}
    assert line()["failed"] == 0
