"""The bodies of shops' events and webhook endpoints; the public names are camelCase."""

# ruff: noqa: N815

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from rest_framework import serializers

from shops.api.cursors import MAX_CURSOR_LENGTH, PageSerializer, Place
from shops.api.field_faults import Fault
from shops.api.query_fields import MomentParameter, QuerySerializer, TextParameter, WholeNumberParameter
from shops.api.serializer_fields import ChoiceField, ListOfField, ObjectSerializer, StringField
from shops.webhooks import feed
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import DeliveryState, WebhookDelivery, iso, iso_or_none
from shops.webhooks.public_addresses import MAX_URL_LENGTH, UrlError, check_url

MAX_EVENTS: Final = 500
MAX_TYPES: Final = 100  # that are read, the same one twice included


class EventQuerySerializer(QuerySerializer):
    after = TextParameter(max_length=MAX_CURSOR_LENGTH)
    type = ChoiceField(tuple(EVENT_TYPES), required=False)
    limit = WholeNumberParameter(max_value=MAX_EVENTS, default=100)

    def validate_after(self, after: str) -> Place | None:
        """Return the place in the events of the shop that asks, as `feed.answer` takes it."""
        return None if after == feed.NOW else feed.checked_place(after, self.context["shop_id"])


class EventTypesField(ListOfField):
    """The types that an endpoint wants; null means all."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=ChoiceField(tuple(EVENT_TYPES)), allow_null=True, max_length=MAX_TYPES, **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        if data == []:
            raise serializers.ValidationError("must name a type; null means all.")
        return list(dict.fromkeys(super().to_internal_value(data)))


def check_endpoint(url: str) -> None:
    """Refuse an address that webhooks may not be sent to, as far as can be told now."""
    try:
        check_url(url)
    except UrlError as error:
        raise serializers.ValidationError(f"{error}.") from None


UrlField = partial(StringField, max_length=MAX_URL_LENGTH, min_length=1, validators=[check_endpoint])


class NewWebhookSerializer(ObjectSerializer):
    url = UrlField()
    eventTypes = EventTypesField(source="event_types", required=False)


class WebhookChangeSerializer(ObjectSerializer):
    """A change of an endpoint; what is left out stays."""

    url = UrlField(required=False)
    eventTypes = EventTypesField(source="event_types", required=False)
    status = ChoiceField(("active", "paused"), required=False)


class ReplaySerializer(ObjectSerializer):
    """The deliveries to be made again: since a moment, or of some events."""

    since = MomentParameter(is_in_body=True)
    eventIds = ListOfField(
        source="event_ids", child=StringField(min_length=1, max_length=64), max_length=MAX_EVENTS, required=False
    )

    def rule_faults(self, data: dict[str, Any]) -> Iterator[Fault]:
        if ("since" in data) is ("eventIds" in data):
            yield ["since"], "is required, or eventIds, and not both."


def webhook_answer(endpoint: Any) -> dict[str, Any]:
    """Return an endpoint of `for_answers`, without its secret."""
    at = iso_or_none(endpoint.last_attempt_at)
    last = at and {"at": at, "httpStatus": endpoint.last_status, "reason": endpoint.last_reason or None}
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "eventTypes": endpoint.event_types or None,
        "status": endpoint.state,
        "disabledReason": endpoint.disabled_reason or None,
        "failingSince": iso_or_none(endpoint.failing_since),
        "queued": endpoint.queued,
        "lastDelivery": last,
        "createdAt": iso(endpoint.created_at),
    }


class DeliveryQuerySerializer(PageSerializer):
    state = ChoiceField(DeliveryState.values, required=False)


def delivery_answer(delivery: WebhookDelivery) -> dict[str, Any]:
    is_queued = delivery.state == DeliveryState.QUEUED
    return {
        "eventId": delivery.event_id,
        "type": delivery.event.type,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "lastStatus": delivery.last_status,
        "lastReason": delivery.last_reason or None,
        "lastDurationMs": delivery.last_duration_ms,
        "lastAttemptAt": iso_or_none(delivery.last_attempt_at),
        "nextAttemptAt": iso(delivery.due_at) if is_queued else None,
    }
