"""The OpenAPI description of events and webhook endpoints; their views are decorated with it."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from shops.api.cursors import PAGE_EXAMPLES, PageSerializer
from shops.api.errors.coded import EVENTS_GONE, TOO_MANY_WEBHOOKS
from shops.api.errors.entries import Failures
from shops.api.errors.plain import (
    BODY_INVALID,
    BODY_NOT_JSON,
    BODY_TOO_LARGE,
    HOST_UNKNOWN,
    HTTPS_REQUIRED,
    MEDIA_TYPE_UNSUPPORTED,
    PATH_UNKNOWN,
    QUERY_INVALID,
    REQUEST_UNREADABLE,
    TOKEN_INVALID,
    TOKEN_MISSING,
    TOO_BUSY,
    WEBHOOK_NOT_FOUND,
)
from shops.api.query_fields import described
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.serializers import (
    DeliveryListSerializer,
    DeliveryQuerySerializer,
    EventFeedSerializer,
    EventQuerySerializer,
    NewWebhookSerializer,
    QueuedSerializer,
    ReplaySerializer,
    SecretSerializer,
    TestSentSerializer,
    WebhookChangeSerializer,
    WebhookListSerializer,
    WebhookSerializer,
    WebhookWithSecretSerializer,
)

Json = dict[str, Any]

WEBHOOK_ID: Final = "we_a1b2c3d4e5f60718"
EVENT_ID: Final = "msg_a1b2c3d4e5f60718"
URL: Final = "https://shop.example/webhooks"
AT: Final = "2026-11-21T15:08:23.946Z"
SECRET: Final = {"secret": "whsec_c2VjcmV0IG9mIHRoZSBndWlkZSdzIGV4YW1wbGVzISE="}
EVENT: Final[Json] = {
    "id": EVENT_ID,
    "type": "label.failed",
    "timestamp": AT,
    "data": {name: field.example for name, field in EVENT_TYPES["label.failed"].fields.items()},
}
FEED: Final[Json] = {"data": [EVENT], "next": PAGE_EXAMPLES["cursor"], "hasMore": False}
LAST_DELIVERY: Final[Json] = {"at": AT, "httpStatus": 503, "reason": "http_5xx"}
WEBHOOK: Final[Json] = {
    "id": WEBHOOK_ID,
    "url": URL,
    "eventTypes": ["label.generated", "label.failed"],
    "status": "failing",
    "disabledReason": None,
    "failingSince": AT,
    "queued": 2,
    "lastDelivery": LAST_DELIVERY,
    "createdAt": AT,
}
NEW_WEBHOOK: Final[Json] = {"url": URL, "eventTypes": WEBHOOK["eventTypes"]}
CHANGE: Final[Json] = NEW_WEBHOOK | {"status": "active"}
MADE: Final[Json] = WEBHOOK | {"status": "active", "failingSince": None, "queued": 0, "lastDelivery": None} | SECRET
WEBHOOK_LIST: Final[Json] = {"data": [WEBHOOK], "next": None}
REPLAY: Final[Json] = {"since": AT, "eventIds": [EVENT_ID]}
DELIVERY: Final[Json] = {
    "eventId": EVENT_ID,
    "type": "label.failed",
    "state": "queued",
    "attempts": 2,
    "lastStatus": 503,
    "lastReason": "http_5xx",
    "lastDurationMs": 41,
    "lastAttemptAt": AT,
    "nextAttemptAt": "2026-11-21T15:13:31.502Z",
}
DELIVERY_LIST: Final[Json] = {"data": [DELIVERY], "next": PAGE_EXAMPLES["cursor"]}
ID_PARAMETER: Final = OpenApiParameter(
    "webhook_id",
    {"type": "string", "pattern": "^we_[a-f][0-9a-f]{15}$"},
    OpenApiParameter.PATH,
    description="The endpoint's `id`.",
    examples=[OpenApiExample("id", WEBHOOK_ID)],
)


def answer(serializer: Any, meaning: str, example: Json) -> OpenApiResponse:
    return OpenApiResponse(serializer, meaning, [OpenApiExample("answer", example)])


events = extend_schema(
    operation_id="listEvents",
    tags=["webhooks"],
    summary="Ask for events",
    description=(
        "Returns what webhooks tell, with an endpoint or without, the oldest first: ask again with `next` as `after`."
        " The order is that in which events became final: none is ever skipped, and an event that came late is"
        " behind those you have. Events are kept for 30 days. A parameter that is unknown is refused."
    ),
    parameters=described(EventQuerySerializer, {"after": "now", "type": "label.failed", "limit": 100}),
    responses={200: answer(EventFeedSerializer, "The events behind the place.", FEED)},
)
list_webhooks = extend_schema(
    operation_id="listWebhooks",
    tags=["webhooks"],
    summary="List endpoints",
    description="Returns the shop's webhook endpoints, the newest first, without their secrets.",
    parameters=described(PageSerializer, PAGE_EXAMPLES),
    responses={200: answer(WebhookListSerializer, "A page of endpoints.", WEBHOOK_LIST)},
)
create_webhook = extend_schema(
    operation_id="createWebhook",
    tags=["webhooks"],
    summary="Make an endpoint",
    description=(
        "Makes an endpoint, at most 10 a shop, and returns its secret, which is never shown again. The address has to"
        " be https and public. Events from now on are sent to it."
    ),
    request=NewWebhookSerializer,
    examples=[OpenApiExample("new", NEW_WEBHOOK, request_only=True)],
    responses={201: answer(WebhookWithSecretSerializer, "The endpoint, with its secret.", MADE)},
)
retrieve_webhook = extend_schema(
    operation_id="retrieveWebhook",
    tags=["webhooks"],
    summary="Retrieve an endpoint",
    description="Returns an endpoint, without its secret.",
    parameters=[ID_PARAMETER],
    responses={200: answer(WebhookSerializer, "The endpoint.", WEBHOOK)},
)
change_webhook = extend_schema(
    operation_id="changeWebhook",
    tags=["webhooks"],
    summary="Change an endpoint",
    description=(
        "Changes its address, its types of events or its status; what is left out stays. `active` resumes or enables"
        " it, and makes all that waits due now; `paused` keeps its events until then."
    ),
    parameters=[ID_PARAMETER],
    request=WebhookChangeSerializer,
    examples=[OpenApiExample("change", CHANGE, request_only=True)],
    responses={200: answer(WebhookSerializer, "The endpoint as it is now.", WEBHOOK)},
)
delete_webhook = extend_schema(
    operation_id="deleteWebhook",
    tags=["webhooks"],
    summary="Delete an endpoint",
    description="Ends an endpoint: no delivery is begun after it, and what waits is dropped.",
    parameters=[ID_PARAMETER],
    request=None,
    responses={204: OpenApiResponse(None, "It is gone.")},
)
rotate_secret = extend_schema(
    operation_id="rotateWebhookSecret",
    tags=["webhooks"],
    summary="Rotate the secret",
    description="Gives it a new secret; each older one signs too until its own 24 hours are over. No body is read.",
    parameters=[ID_PARAMETER],
    request=None,
    responses={200: answer(SecretSerializer, "The new secret.", SECRET)},
)
test_webhook = extend_schema(
    operation_id="testWebhook",
    tags=["webhooks"],
    summary="Send a test",
    description="Sends `webhook.test` to this endpoint, whatever its types, as soon as it is active. No body is read.",
    parameters=[ID_PARAMETER],
    request=None,
    responses={202: answer(TestSentSerializer, "It is on its way.", {"eventId": EVENT_ID})},
)
replay_webhook = extend_schema(
    operation_id="replayWebhook",
    tags=["webhooks"],
    summary="Deliver again",
    description=(
        "Delivers events again, since a moment or by their ids: whatever waits is due now, and whatever has ended is"
        " sent again with its own id. Events from before the endpoint was made are had from `GET events`."
    ),
    parameters=[ID_PARAMETER],
    request=ReplaySerializer,
    examples=[OpenApiExample("since", {"since": AT}, request_only=True)],
    responses={202: answer(QueuedSerializer, "How many are due now.", {"queued": 2})},
)
list_deliveries = extend_schema(
    operation_id="listDeliveries",
    tags=["webhooks"],
    summary="List deliveries",
    description="Returns the deliveries to an endpoint, the newest first.",
    parameters=[ID_PARAMETER, *described(DeliveryQuerySerializer, {"state": "dead"} | PAGE_EXAMPLES)],
    responses={200: answer(DeliveryListSerializer, "A page of deliveries.", DELIVERY_LIST)},
)

ALL: Final[Failures] = {401: (TOKEN_MISSING, TOKEN_INVALID), 403: (HTTPS_REQUIRED,)}
BARE: Final[Failures] = ALL | {400: (HOST_UNKNOWN,)}
QUERY: Final[Failures] = ALL | {400: (QUERY_INVALID, REQUEST_UNREADABLE, HOST_UNKNOWN)}
BODY: Final[Failures] = ALL | {
    400: (BODY_NOT_JSON, BODY_INVALID, HOST_UNKNOWN),
    413: (BODY_TOO_LARGE,),
    415: (MEDIA_TYPE_UNSUPPORTED,),
    503: (TOO_BUSY,),
}
ONE: Final[Failures] = {404: (WEBHOOK_NOT_FOUND, PATH_UNKNOWN)}
# The failures of each operation by status, besides those of every endpoint.
FAILURES: Final[dict[str, Failures]] = {
    "listEvents": QUERY | {410: (EVENTS_GONE,)},
    "listWebhooks": QUERY,
    "createWebhook": BODY | {409: (TOO_MANY_WEBHOOKS,)},
    "retrieveWebhook": BARE | ONE,
    "changeWebhook": BODY | ONE,
    "deleteWebhook": BARE | ONE,
    "rotateWebhookSecret": BARE | ONE,
    "testWebhook": BARE | ONE,
    "replayWebhook": BODY | ONE,
    "listDeliveries": QUERY | ONE,
}
