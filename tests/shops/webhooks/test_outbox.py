"""The outbox: an event is committed with its change, for each endpoint that wants it."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from shops.models import Shop
from shops.webhooks import endpoints, outbox
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from tests.shops.webhooks.receivers import Receiver, tell_label
from tests.support.factories import ShopFactory


def labels() -> list[str]:
    return list(WebhookDelivery.objects.order_by("id").values_list("subject", flat=True))


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_nothing_can_be_told(endpoint: WebhookEndpoint) -> None:
    with pytest.raises(AssertionError, match="committed with its change"):
        outbox.emit_all(endpoint.shop_id, [])


def test_a_change_that_is_rolled_back_tells_nothing(endpoint: WebhookEndpoint) -> None:
    with transaction.atomic():
        tell_label(endpoint.shop_id)
        transaction.set_rollback(True)
    assert labels() == []


def test_each_endpoint_that_wants_it_gets_the_event_under_one_event_id(shop: Shop, receiver: Receiver) -> None:
    wanted = [endpoints.create(shop=shop, url=receiver.url)[0]]
    wanted += [endpoints.create(shop=shop, url=receiver.url, event_types=["label.failed"])[0]]
    endpoints.create(shop=shop, url=receiver.url, event_types=["label.generated"])
    endpoints.revoke(endpoints.create(shop=shop, url=receiver.url)[0])
    endpoints.create(shop=ShopFactory(id="other"), url=receiver.url)
    tell_label(shop.id)
    rows = WebhookDelivery.objects.all()
    assert {row.endpoint_id for row in rows} == {each.id for each in wanted}
    assert len({row.event_id for row in rows}) == 1


def test_a_shop_without_an_endpoint_has_its_events_too(shop: Shop) -> None:
    tell_label(shop.id, "alone")
    assert [(each.shop_id, each.subject) for each in WebhookEvent.objects.all()] == [(shop.id, "alone")]
    assert labels() == []


def test_events_cost_two_statements_however_many_and_deliveries_one(shop: Shop, receiver: Receiver) -> None:
    def statements() -> list[str]:
        data = {name: field["example"] for name, field in EVENT_TYPES["label.failed"]["fields"].items()}
        with CaptureQueriesContext(connection) as captured, transaction.atomic():
            outbox.emit_all(shop.id, (outbox.Event("label.failed", str(number), data) for number in range(5)))
        return [query["sql"].split()[0] for query in captured if "SAVEPOINT" not in query["sql"]]

    assert len(statements()) == 2
    for _ in range(2):
        endpoints.create(shop=shop, url=receiver.url)
    assert len(statements()) == 3
    assert (WebhookEvent.objects.count(), WebhookDelivery.objects.count()) == (10, 10)


def test_paused_and_disabled_endpoints_keep_their_events(endpoint: WebhookEndpoint) -> None:
    WebhookEndpoint.objects.update(is_paused=True)
    tell_label(endpoint.shop_id, "while paused")
    endpoints.disable(endpoint.id, "it answered 410")
    tell_label(endpoint.shop_id, "while disabled")
    assert labels() == ["while paused", "while disabled"]


def test_an_event_with_a_field_too_few_or_too_many_is_not_told(endpoint: WebhookEndpoint) -> None:
    data = {name: field["example"] for name, field in EVENT_TYPES["label.generated"]["fields"].items()}
    outbox.Event("label.generated", "label", data)
    for wrong in (data | {"name": "Zoé"}, {}):
        with pytest.raises(AssertionError, match=r"label\.generated"):
            outbox.Event("label.generated", "label", wrong)


def test_the_types_of_the_contract_are_all_there() -> None:
    of_the_contract = "parcel.status_changed label.generated label.failed label.cancelled webhook.disabled webhook.test"
    assert list(EVENT_TYPES) == of_the_contract.split()
