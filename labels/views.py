"""The endpoints of labels, checks of orders and pickup points, and the PDFs of labels kept in a local folder."""

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

from django.core.signing import BadSignature
from django.http import HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet, ViewSet

from carriers.trials import Stage
from labels import listing, order_check, points
from labels.idempotency import IdempotencyKey, canonical, digest, read_key
from labels.lifecycle import cancelling, purchase
from labels.lifecycle.db_retry import OrderWait, held_up
from labels.lifecycle.errors import LabelError, NotCancelledError, StorageUnavailableError
from labels.models import STORED, ShippingLabel
from labels.order_rules import crosses_border, place
from labels.pdfs import storage
from labels.serializers import cancellation_answer, ignored_header, label_answer, listed_answer, read_order
from shops import tokens
from shops.api.authentication import may_be_valid, sent_token
from shops.api.cursors import read_page
from shops.api.errors.coded import PDF_UNREADABLE
from shops.api.errors.exceptions import ApiError, found
from shops.api.errors.plain import LABEL_NOT_FOUND, LINK_INVALID, PDF_NOT_FOUND
from shops.api.file_answers import file_answer
from shops.api.paths import TRACKING
from shops.api.query_fields import read_query
from shops.api.request_body import sent_body
from shops.db.failures import DATABASE_ERRORS, is_away
from shops.staff.audit.models import Channel
from shops.staff.audit.recording import Actor, acting
from shops.webhooks.models import iso

if TYPE_CHECKING:
    from shops.models import AccessToken, Shop

# Proxies take some kilobytes of headers; a carrier's text has at most 200 characters.
MAX_WARNINGS: Final = 5
MAX_WARNING_LENGTH: Final = 200
# Printable ASCII but for the percent sign and the comma, which separates.
PLAIN: Final = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in "%,")


class LabelViewSet(GenericViewSet[ShippingLabel]):
    queryset = ShippingLabel.objects.none()
    http_method_names = ["get", "head", "post"]
    wait: OrderWait  # of an order

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the shop and count the request; an order whose token may be valid waits for the database."""
        begin = partial(super().initial, request, *args, **kwargs)
        secret, key = sent_token(request.META), request.headers.get("Idempotency-Key")
        if self.action != "create" or not secret:
            return begin()
        is_test = secret.startswith(tokens.TEST_PREFIX)
        self.wait = OrderWait(key=key and (tokens.digest(secret), key), is_test=is_test)
        try:
            return begin()
        except DATABASE_ERRORS as error:
            if not is_away(error) or not may_be_valid(secret):
                raise
        return self.wait.run(begin)

    def handle_exception(self, exc: Exception) -> Response:
        """Refuse an order for which the database has been away for too long; one that a carrier got ends otherwise."""
        if self.action == "create" and is_away(exc):
            exc = held_up(exc)
        return super().handle_exception(exc)

    def index(self, request: Request) -> Response:
        """Answer a page of the shop's labels, the newest first."""
        page = read_page(request, listing.LabelQuerySerializer)
        rows = listing.rows(shop_id=str(request.user.pk), filters=page.filters)
        return Response(page.answer(rows, listed_answer))

    def create(self, request: Request) -> Response:
        """Buy a label, or answer with the one bought before with the same Idempotency-Key."""
        body, label = canonical(sent_body(request)), None
        shop = cast("Shop", request.user)
        try:
            label, is_replay = self.buy(body, read_key(request.headers.get("Idempotency-Key")))
        except LabelError as error:
            label = error.label
            raise
        finally:  # of the errors too
            # Known of a label that has a pickup point.
            border = crosses_border(place(label.sender), place(label.pickup_point)) if label else None
            self.headers = ignored_header(body, sender_address=shop.sender_address, crosses_border=border)
        replayed = {"Idempotent-Replayed": "true"} if is_replay else {}
        answer_headers = {"Location": f"{TRACKING}/shipments/{label.id}", **headers_of(label), **replayed}
        return Response(self.body(label), status=HTTPStatus.CREATED, headers=answer_headers)

    def buy(self, body: Any, key_value: str | None) -> tuple[ShippingLabel, bool]:
        """Buy a label, or find the one bought before, also of an order that this version refuses and another took."""
        shop, token = cast("Shop", self.request.user), cast("AccessToken", self.request.auth)
        key = IdempotencyKey(key_value, digest(body)) if key_value else None
        try:
            order = read_order(body, sender_address=shop.sender_address)
        except ValidationError:
            earlier = key and purchase.find_earlier(shop.id, key)
            if key and earlier and earlier.body_digest == key.body_digest:
                return purchase.bought(earlier), True
            raise
        return purchase.buy(
            shop_id=shop.id,
            order=order,
            sender_address=shop.sender_address,
            key=key,
            token_id=token.id,
            wait=self.wait,
        )

    def retrieve(self, request: Request, label_id: str) -> Response:
        """Answer with a label bought before, its URL signed afresh."""
        labels = ShippingLabel.objects.for_shop(str(request.user.pk)).generated()
        label = found(labels, label_id, LABEL_NOT_FOUND)
        return Response(self.body(label), headers=headers_of(label))

    def cancel(self, request: Request, label_id: str) -> Response:
        """Cancel a label, or answer as before for one that is cancelled or about to be; a body is not read."""
        read_query(request)
        labels = ShippingLabel.objects.for_shop(str(request.user.pk)).filter(state__in=STORED).defer("pdf")
        label = found(labels, label_id, LABEL_NOT_FOUND)
        with acting(Actor(cast("AccessToken", request.auth).id, Channel.API)):
            try:
                cancelled = cancelling.cancel_for_shop(label)
            except cancelling.CancelError as error:
                raise NotCancelledError(error.reason, error.failure) from error
        return Response(cancellation_answer(cancelled))

    def body(self, label: ShippingLabel) -> dict[str, Any]:
        try:
            url = storage.signed_url(label, base_url=self.request.build_absolute_uri("/"))
        except storage.StorageError as error:
            raise StorageUnavailableError(label) from error
        return label_answer(label) | {"labelUrl": url}


class OrderCheckViewSet(ViewSet):
    http_method_names = ["post"]

    def create(self, request: Request) -> Response:
        """Answer what would refuse the order; buy nothing."""
        read_query(request)
        body, sender_address = canonical(sent_body(request)), cast("Shop", request.user).sender_address
        if not isinstance(body, dict):
            read_order(body, sender_address=sender_address)  # which refuses it
        border = None
        try:
            answer = order_check.check(shop_id=str(request.user.pk), body=body, sender_address=sender_address)
            if Stage.PICKUP_POINT in answer["checked"]:
                border = answer["customsRequired"]
        finally:  # of the errors too
            self.headers = ignored_header(body, sender_address=sender_address, crosses_border=border)
        return Response(answer)


class PointViewSet(ViewSet):
    http_method_names = ["get", "head"]

    def find(self, request: Request) -> Response:
        """Answer the points near a place that an order would be sold to, nearest first."""
        search = read_query(request, points.PointQuerySerializer)
        shop = cast("Shop", request.user)
        near = points.find(shop_id=shop.id, sender_address=shop.sender_address, search=search)
        data = list(map(points.as_json, near.points[: search["limit"]]))
        return Response({"data": data, "asOf": iso(near.asked_at)})


def headers_of(label: ShippingLabel) -> dict[str, str]:
    """Return `Label-Warnings`: what the carrier said of the label, percent-encoded; nothing without a warning."""
    texts = [quote(text[:MAX_WARNING_LENGTH].strip(), safe=PLAIN) for text in label.warnings[:MAX_WARNINGS]]
    return {"Label-Warnings": ", ".join(texts)} if texts else {}


class LabelFileView(APIView):
    """A label's PDF in the local folder. Public: the signature in the path is the permission."""

    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = []
    http_method_names = ["get", "head"]

    def get(self, request: Request, signed_name: str) -> HttpResponse:
        if request.META.get("QUERY_STRING"):  # an alteration, as it is at a bucket
            raise ApiError(LINK_INVALID)
        try:
            name = storage.name_in_link(signed_name)
        except BadSignature:
            raise ApiError(LINK_INVALID) from None
        try:
            content = storage.read(name)
        except storage.StorageError as error:
            raise ApiError(PDF_UNREADABLE) from error
        if content is None:
            raise ApiError(PDF_NOT_FOUND)
        return file_answer(content, storage.disposition(name))
