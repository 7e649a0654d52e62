"""The bodies of shops' events and webhook endpoints; the public names are camelCase."""

# ruff: noqa: N815

from collections.abc import Iterator
from typing import Any, Final

from rest_framework import serializers

from shops.api.cursors import PageSerializer
from shops.api.field_faults import Fault
from shops.api.query_fields import (
    ChoiceParameter,
    MomentParameter,
    QuerySerializer,
    TextParameter,
    WholeNumberParameter,
)
from shops.api.serializer_fields import (
    AnyField,
    BooleanField,
    ChoiceField,
    IntegerField,
    ListOfField,
    ObjectSerializer,
    StringField,
)
from shops.webhooks import feed
from shops.webhooks.event_types import EVENT_TYPES, SUBSCRIBABLE
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint, WebhookEvent, iso, iso_or_none
from shops.webhooks.public_addresses import MAX_URL_LENGTH, UrlError, check_url

MAX_EVENTS: Final = 500
STATUSES: Final = ("active", "failing", "paused", "disabled")
MAX_PLACE_LENGTH: Final = 1000


class PlaceParameter(TextParameter):
    """A place in the events of the shop that asks, or `now`."""

    def to_internal_value(self, data: Any) -> str:
        after = super().to_internal_value(data)
        if after != feed.NOW:
            feed.checked_place(after, self.context["shop_id"])
        return after


class EventQuerySerializer(QuerySerializer):
    after = PlaceParameter(
        max_length=MAX_PLACE_LENGTH,
        help_text="The `next` of the answer before; `now` for today's place and no event. Without it the events begin"
        " 30 days back.",
    )
    type = ChoiceParameter(tuple(EVENT_TYPES), help_text="Events of this type only.")
    limit = WholeNumberParameter(
        min_value=1,
        max_value=MAX_EVENTS,
        default=100,
        help_text="How many are answered at most: 1 to 500, 100 by default.",
    )


class EventSerializer(serializers.Serializer[WebhookEvent]):
    """An event, as webhooks tell it, with its id."""

    id = StringField(help_text="The event's id: the `webhook-id` of its deliveries.")
    type = ChoiceField(tuple(EVENT_TYPES), help_text="The type of the event.")
    timestamp = StringField(help_text="When it happened: ISO 8601, UTC.")
    data = AnyField(help_text="What the event tells, by its type as in the webhooks below.")  # type: ignore[assignment]  # a field

    def to_representation(self, instance: WebhookEvent) -> dict[str, Any]:
        return {"id": instance.message_id, **instance.body}


class EventFeedSerializer(serializers.Serializer[Any]):
    """Some events, and the place to go on from."""

    data = EventSerializer(many=True, help_text="The events, the oldest first.")  # type: ignore[assignment]  # a field
    next = StringField(help_text="The place behind these events: send it as `after`. It is always there.")
    hasMore = BooleanField(help_text="True if there are more by now.")


class EventTypesField(ListOfField):
    """The types that an endpoint wants; null means all."""

    def __init__(self, **kwargs: Any) -> None:
        help_text = "The types of events that it is told of; null means all."
        super().__init__(child=ChoiceField(SUBSCRIBABLE), allow_null=True, help_text=help_text, **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        if data == []:
            raise serializers.ValidationError("must name a type; null means all.")
        return list(dict.fromkeys(super().to_internal_value(data)))


class UrlField(StringField):
    """An address that webhooks may be sent to, as far as can be told now."""

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        try:
            check_url(url)
        except UrlError as error:
            raise serializers.ValidationError(f"{error}.") from None
        return url


class NewWebhookSerializer(ObjectSerializer):
    url = UrlField(max_length=MAX_URL_LENGTH, min_length=1, help_text="Where events are sent: https, and public.")
    eventTypes = EventTypesField(source="event_types", required=False)


class WebhookChangeSerializer(ObjectSerializer):
    """A change of an endpoint; what is left out stays."""

    url = UrlField(
        max_length=MAX_URL_LENGTH, min_length=1, required=False, help_text="Another address; the secret stays."
    )
    eventTypes = EventTypesField(source="event_types", required=False)
    status = ChoiceField(
        ("active", "paused"),
        required=False,
        help_text="`paused` keeps its events; `active` resumes or enables it, and what waits is sent at once.",
    )


class SinceField(MomentParameter):
    """A moment in a body, where it may be of another type."""

    escaping = ""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(StringField.to_internal_value(self, data))


class ReplaySerializer(ObjectSerializer):
    """The deliveries to be made again: since a moment, or of some events."""

    since = SinceField(help_text="Those of events since then: ISO 8601 with an offset, or a day in Paris.")
    eventIds = ListOfField(
        source="event_ids",
        child=StringField(min_length=1, max_length=64),
        max_length=MAX_EVENTS,
        required=False,
        help_text="Those of the events with these ids, 500 at most.",
    )

    def rule_faults(self, data: dict[str, Any]) -> Iterator[Fault]:
        if ("since" in data) is ("eventIds" in data):
            yield ["since"], "is required, or eventIds, and not both."


class LastDeliverySerializer(serializers.Serializer[Any]):
    """The last attempt to deliver something to an endpoint."""

    at = StringField(help_text="When it ended: ISO 8601, UTC.")
    httpStatus = IntegerField(allow_null=True, help_text="The answer's status; null without an answer.")
    reason = StringField(allow_null=True, help_text="Why it failed, in a word such as `timeout`; null if it succeeded.")


class WebhookSerializer(serializers.Serializer[WebhookEndpoint]):
    """An endpoint, without its secret; made of the rows of `for_answers`."""

    id = StringField(help_text="The endpoint's id.")
    url = StringField(max_length=MAX_URL_LENGTH, help_text="Where events are sent.")
    eventTypes = EventTypesField()
    status = ChoiceField(STATUSES, help_text="`failing`: the last attempts failed. `disabled`: nothing is sent.")
    disabledReason = StringField(allow_null=True, help_text="Why it is disabled; null otherwise.")
    failingSince = StringField(allow_null=True, help_text="Nothing but failures came since; null otherwise.")
    queued = IntegerField(min_value=0, help_text="How many deliveries wait, also while it is paused or disabled.")
    lastDelivery = LastDeliverySerializer(allow_null=True, help_text="The last attempt; null before the first.")
    createdAt = StringField(help_text="When it was made: ISO 8601, UTC.")

    def to_representation(self, instance: Any) -> dict[str, Any]:
        at = iso_or_none(instance.last_at)
        last = at and {"at": at, "httpStatus": instance.last_status, "reason": instance.last_reason or None}
        return {
            "id": instance.id,
            "url": instance.url,
            "eventTypes": instance.event_types or None,
            "status": instance.state,
            "disabledReason": instance.disabled_reason or None,
            "failingSince": iso_or_none(instance.failing_since),
            "queued": instance.queued,
            "lastDelivery": last,
            "createdAt": iso(instance.created_at),
        }


class SecretSerializer(serializers.Serializer[Any]):
    """A secret, which is shown in this answer alone."""

    secret = StringField(help_text="Signs the deliveries: keep it now, it is not shown again.")


class WebhookWithSecretSerializer(WebhookSerializer, SecretSerializer):
    """An endpoint that was just made, with its secret."""


class WebhookListSerializer(serializers.Serializer[Any]):
    data = WebhookSerializer(many=True, help_text="The endpoints, the newest first.")  # type: ignore[assignment]  # a field
    next = StringField(allow_null=True, help_text="The `cursor` of the next page; null on the last one.")


class QueuedSerializer(serializers.Serializer[Any]):
    """The number of deliveries that are made again."""

    queued = IntegerField(min_value=0, help_text="How many deliveries are due now.")


class TestSentSerializer(serializers.Serializer[Any]):
    eventId = StringField(help_text="The event's id.")


class DeliveryQuerySerializer(PageSerializer):
    state = ChoiceParameter(tuple(DeliveryState.values), help_text="Deliveries in this state only.")


class DeliverySerializer(serializers.Serializer[WebhookDelivery]):
    eventId = StringField(help_text="The event's id: the `webhook-id`.")
    type = ChoiceField(tuple(EVENT_TYPES), help_text="The type of the event.")
    state = ChoiceField(tuple(DeliveryState.values), help_text="`dead`: given up; a replay sends it again.")
    attempts = IntegerField(min_value=0, help_text="The attempts so far.")
    lastStatus = IntegerField(allow_null=True, help_text="The last answer's status; null without an answer.")
    lastReason = StringField(allow_null=True, help_text="Why the last attempt failed; null if it succeeded.")
    lastDurationMs = IntegerField(allow_null=True, min_value=0, help_text="How long the last attempt took.")
    lastAttemptAt = StringField(allow_null=True, help_text="When the last attempt ended: ISO 8601, UTC.")
    nextAttemptAt = StringField(allow_null=True, help_text="When the next attempt is due; null if there is none.")

    def to_representation(self, instance: WebhookDelivery) -> dict[str, Any]:
        is_queued = instance.state == DeliveryState.QUEUED
        return {
            "eventId": instance.event_id,
            "type": instance.event.type,
            "state": instance.state,
            "attempts": instance.attempts,
            "lastStatus": instance.last_status,
            "lastReason": instance.last_reason or None,
            "lastDurationMs": instance.last_duration_ms,
            "lastAttemptAt": iso_or_none(instance.last_attempt_at),
            "nextAttemptAt": iso(instance.due_at) if is_queued else None,
        }


class DeliveryListSerializer(serializers.Serializer[Any]):
    data = DeliverySerializer(many=True, help_text="The deliveries, the newest first.")  # type: ignore[assignment]  # a field
    next = StringField(allow_null=True, help_text="The `cursor` of the next page; null on the last one.")
