"""The outbox: events are written in the transaction of the change that they report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import transaction

from shops.db.bulk import insert_values
from shops.db.prepared import PreparedQuery, Row, argument
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint, WebhookEvent, new_message_id

# The database gives the other columns their values.
EVENT_COLUMNS = ("message_id", "shop_id", "type", "subject", "data")
DELIVERY_COLUMNS = ("event_id", "endpoint_id", "shop_id", "subject", "state", "attempts", "last_reason")
# The id of each endpoint that events are kept for, and the types that it wants, of which none are all.
ENDPOINTS = PreparedQuery(
    lambda: WebhookEndpoint.objects.for_shop(argument("shop")).not_revoked().order_by().values_list("pk", "event_types")
)


@dataclass(frozen=True)
class Event:
    """A change of a subject, a parcel or a label, that its shop is notified of."""

    type: str
    subject: str
    data: dict[str, Any]
    message_id: str = field(default_factory=new_message_id)

    def __post_init__(self) -> None:
        assert self.data.keys() == EVENT_TYPES[self.type]["fields"].keys(), self.type


def emit_all(shop_id: str, events: Iterable[Event], endpoints: Sequence[Row] | None = None) -> None:
    """Write events of a shop, and deliveries to the endpoints that want them, in the caller's transaction.

    Call it after the subjects' rows are locked or changed, as the order of calls is the order of delivery. `endpoints`
    are the shop's `ENDPOINTS` where they were read before.
    """
    assert transaction.get_connection().in_atomic_block, "an event is committed with its change"
    write(shop_id, list(events), ENDPOINTS.rows(shop=shop_id) if endpoints is None else endpoints)


def write(shop_id: str, events: Sequence[Event], endpoints: Sequence[Row]) -> None:
    rows = [(each.message_id, shop_id, each.type, each.subject, orjson.dumps(each.data).decode()) for each in events]
    insert_values(WebhookEvent, EVENT_COLUMNS, rows)
    if endpoints:
        deliveries = (
            (event.message_id, endpoint_id, shop_id, event.subject, DeliveryState.QUEUED, 0, "")
            for event in events
            for endpoint_id, wanted in endpoints
            if not wanted or event.type in wanted
        )
        insert_values(WebhookDelivery, DELIVERY_COLUMNS, deliveries)
