"""The endpoints of a shop's events, and of its webhook endpoints."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from django.db import transaction
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from shops.api.cursors import PageSerializer, read_page
from shops.api.errors.coded import TOO_MANY_WEBHOOKS
from shops.api.errors.exceptions import ApiError, found
from shops.api.errors.plain import WEBHOOK_NOT_FOUND
from shops.api.paths import TRACKING
from shops.api.query_fields import read_query
from shops.api.request_body import ignored_header, sent_body
from shops.api.serializer_fields import ObjectSerializer
from shops.staff.audit import changes
from shops.staff.audit.models import Action, Channel
from shops.staff.audit.recording import Actor, acting, record
from shops.webhooks import endpoints, feed
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from shops.webhooks.serializers import (
    DeliveryQuerySerializer,
    EventQuerySerializer,
    NewWebhookSerializer,
    ReplaySerializer,
    WebhookChangeSerializer,
    delivery_answer,
    webhook_answer,
)

if TYPE_CHECKING:
    from shops.models import AccessToken, Shop

RECORDED = ("url", "event_types", "state")  # of a change, by the audit log
WITHOUT_QUERY = {"create", "retrieve", "change", "destroy", "rotate", "test", "replay"}


class EventViewSet(GenericViewSet[WebhookEvent]):
    queryset = WebhookEvent.objects.none()
    http_method_names = ["get", "head"]

    def index(self, request: Request) -> Response:
        shop_id = str(request.user.pk)
        query = {"after": []} | read_query(request, EventQuerySerializer, shop_id=shop_id)
        return Response(feed.answer(shop_id=shop_id, **query))


class WebhookViewSet(GenericViewSet[WebhookEndpoint]):
    queryset = WebhookEndpoint.objects.none()
    http_method_names = ["get", "head", "post", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the shop and count the request; refuse parameters where the path takes none."""
        super().initial(request, *args, **kwargs)
        if self.action in WITHOUT_QUERY:
            read_query(request)

    def index(self, request: Request) -> Response:
        return Response(read_page(request, PageSerializer).answer(self.rows(), webhook_answer))

    def create(self, request: Request) -> Response:
        values = self.read(request, NewWebhookSerializer())
        shop, event_types = cast("Shop", request.user), values.get("event_types")
        try:
            made, secret = endpoints.create(shop=shop, url=values["url"], event_types=event_types or ())
        except endpoints.LimitError:
            raise ApiError(TOO_MANY_WEBHOOKS, count=endpoints.MAX_ENDPOINTS) from None
        self.note(Action.ADDED, made, changes=changes.of_new(made, "url", "event_types"))
        headers = {"Location": f"{TRACKING}/webhooks/{made.id}"}
        body = webhook_answer(self.find(made.id)) | {"secret": secret}
        return Response(body, status=HTTPStatus.CREATED, headers=headers)

    def retrieve(self, request: Request, webhook_id: str) -> Response:
        return Response(webhook_answer(self.find(webhook_id)))

    def change(self, request: Request, webhook_id: str) -> Response:
        self.find(webhook_id)
        values = self.read(request, WebhookChangeSerializer())
        with transaction.atomic():  # what others change at the same time is on record as theirs
            own = self.rows().select_for_update(of=("self",), no_key=True)
            before = found(own, webhook_id, WEBHOOK_NOT_FOUND)
            endpoints.change(before, **values)
            after = self.find(webhook_id)
            old, new = ({name: getattr(each, name) for name in RECORDED} for each in (before, after))
            self.note(Action.CHANGED, after, changes=changes.between(old, new))
        return Response(webhook_answer(after))

    def destroy(self, request: Request, webhook_id: str) -> Response:
        endpoint = self.find(webhook_id)
        if endpoints.revoke(endpoint):
            self.note(Action.REMOVED, endpoint)
        return Response(status=HTTPStatus.NO_CONTENT)

    def rotate(self, request: Request, webhook_id: str) -> Response:
        """Give an endpoint a new secret; those before sign for a day too."""
        endpoint = self.find(webhook_id)
        secret = endpoints.rotate(endpoint)
        self.note(Action.CHANGED, endpoint, note="Secret rotated.")
        return Response({"secret": secret})

    def test(self, request: Request, webhook_id: str) -> Response:
        event_id = endpoints.send_test(self.find(webhook_id))
        return Response({"eventId": event_id}, status=HTTPStatus.ACCEPTED)

    def replay(self, request: Request, webhook_id: str) -> Response:
        endpoint = self.find(webhook_id)
        values = self.read(request, ReplaySerializer())
        own = WebhookDelivery.objects.filter(endpoint=endpoint)
        chosen = own.created_since(values["since"]) if "since" in values else own.filter(event__in=values["event_ids"])
        return Response({"queued": chosen.replay()}, status=HTTPStatus.ACCEPTED)

    def deliveries(self, request: Request, webhook_id: str) -> Response:
        page = read_page(request, DeliveryQuerySerializer)
        endpoint = self.find(webhook_id)
        rows = WebhookDelivery.objects.for_shop(endpoint.shop_id).filter(endpoint=endpoint, **page.filters)
        return Response(page.answer(rows.select_related("event"), delivery_answer, columns=("id", "event_id")))

    def rows(self) -> QuerySet[WebhookEndpoint]:
        return WebhookEndpoint.objects.for_shop(str(self.request.user.pk)).not_revoked().for_answers()

    def find(self, webhook_id: str) -> WebhookEndpoint:
        """Find an endpoint of the shop; raise ApiError."""
        return found(self.rows(), webhook_id, WEBHOOK_NOT_FOUND)

    def note(self, action: Action, endpoint: WebhookEndpoint, **facts: Any) -> None:
        with acting(Actor(cast("AccessToken", self.request.auth).id, Channel.API)):
            record(action, endpoint, **facts)

    def read(self, request: Request, reader: ObjectSerializer) -> dict[str, Any]:
        """Read a body, and name what is ignored of it in the answer's header; raise ValidationError."""
        body = sent_body(request)
        self.headers = ignored_header(body, reader)  # of the errors too
        values: dict[str, Any] = reader.run_validation(body)
        return values
