"""A backlog is claimed and recorded along its indexes, whatever PostgreSQL's statistics and plans are from."""

import re
from collections.abc import Iterable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from config.postgresql.connection import numbered
from shops.models import Shop
from shops.webhooks import delivering, endpoints, outbox
from shops.webhooks.claims import claim
from shops.webhooks.metrics import oldest_due_s
from shops.webhooks.models import DeliveryState, WebhookDelivery
from shops.webhooks.sending import Outcome
from tests.support.factories import ShopFactory
from tests.support.sql import execute, statements

pytestmark = [pytest.mark.real_services, pytest.mark.django_db(transaction=True)]
ROWS = 500
DATA = {"id": "", "orderId": "1", "carrierCode": "alpha", "productCode": "alpha-13", "code": "ALPHA_UNAVAILABLE"}


def queue(shop: Shop, *, first: int) -> None:
    """Queue deliveries of different subjects that become due one after the other."""
    with transaction.atomic():
        outbox.emit_all(shop.id, [outbox.Event("label.failed", f"label-{first + n}", DATA) for n in range(ROWS)])
    execute("UPDATE shops_delivery SET due_at = due_at - id * interval '1 s' WHERE state = 'queued'")


@pytest.fixture
def shop() -> Shop:
    """Make a shop with a delivered backlog."""
    shop = ShopFactory()
    endpoints.create(shop=shop, url="http://127.0.0.1:9999/")
    queue(shop, first=0)
    WebhookDelivery.objects.update(state=DeliveryState.DELIVERED)
    return shop


def deliver_some() -> None:
    claimed = claim(8)
    assert claimed
    delivering.record([Outcome(each, 200, "", 0.1) for each in claimed])
    assert oldest_due_s() > 0


def plans(asked: Iterable[str], *options: str) -> str:
    """Return the plans of statements about deliveries, in a transaction with the settings that they were sent with."""
    found = []
    with transaction.atomic():
        for sql in asked:
            if "set_config" in sql:
                execute(sql)
            elif re.match("SELECT|UPDATE", sql) and "shops_delivery" in sql:
                found += [line for (line,) in execute(f"EXPLAIN ({', '.join(['COSTS', *options])}) {sql}")]
    return "\n".join(found)


def test_what_comes_after_a_vacuum_of_the_empty_queue_is_not_read_as_a_whole(shop: Shop) -> None:
    execute("VACUUM ANALYZE shops_delivery")
    queue(shop, first=ROWS)
    with CaptureQueriesContext(connection) as captured:
        deliver_some()
    shown = plans(asked["sql"] for asked in captured)
    assert "delivery_due" in shown
    assert "delivery_subject" in shown
    assert "delivery_oldest" not in shown, shown


def test_a_plan_for_all_values_reads_the_indexes_of_the_queue(shop: Shop) -> None:
    queue(shop, first=ROWS)
    execute("VACUUM ANALYZE shops_delivery")
    with statements() as sent:
        claim(8)
    shown = plans((numbered(sql).decode() for sql in dict.fromkeys(sent)), "GENERIC_PLAN")
    assert shown.count("delivery_due") == 2, shown
