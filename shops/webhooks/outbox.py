"""The outbox: events are written in the transaction of the change that they tell of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from shops.db.prepared import PreparedQuery, argument
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint, new_message_id

BATCH_SIZE = 500
# One of a shop's endpoints, if it has any: most have none.
ENDPOINT = PreparedQuery(
    lambda: WebhookEndpoint.objects.for_shop(argument("shop")).not_revoked().order_by().values_list("pk")[:1]
)


@dataclass(frozen=True)
class Event:
    """A change of a subject, a parcel or a label, that a shop is told of."""

    type: str
    subject: str
    data: dict[str, Any]

    def __post_init__(self) -> None:
        assert self.data.keys() == EVENT_TYPES[self.type].fields.keys(), self.type


def tell(shop_id: str, event_type: str, subject: str, data: dict[str, Any]) -> None:
    """Write one event for each of the shop's endpoints that wants it, in the caller's transaction.

    Call it after the subject's row is locked or changed, as the order of calls is the order of delivery.
    """
    tell_all(shop_id, [Event(event_type, subject, data)])


def tell_all(shop_id: str, events: Iterable[Event]) -> None:
    """Write many events of a shop with one look at its endpoints; without one, `events` is not iterated."""
    assert transaction.get_connection().in_atomic_block, "an event is committed with its change"
    endpoints = list(WebhookEndpoint.objects.for_shop(shop_id).not_revoked().defer("encrypted_secrets"))
    if endpoints:
        write(
            delivery
            for event in events
            for delivery in deliveries(event, [each for each in endpoints if each.wants(event.type)])
        )


def tell_endpoint(endpoint: WebhookEndpoint, event: Event) -> None:
    """Write an event for one endpoint, whatever it asked for."""
    write(deliveries(event, [endpoint]))


def write(rows: Iterable[WebhookDelivery]) -> None:
    WebhookDelivery.objects.bulk_create(rows, batch_size=BATCH_SIZE)


def deliveries(event: Event, endpoints: Iterable[WebhookEndpoint]) -> Iterator[WebhookDelivery]:
    """Make the event's row for each endpoint; they share the message's id."""
    message_id = new_message_id()
    for endpoint in endpoints:
        yield WebhookDelivery(
            message_id=message_id,
            endpoint=endpoint,
            shop_id=endpoint.shop_id,
            type=event.type,
            subject=event.subject,
            data=event.data,  # type: ignore[misc]  # a JSON value
        )
