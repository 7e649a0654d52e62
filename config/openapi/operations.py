"""What each operation is for: its words, parameters and success, for drf-spectacular to add to what the code says."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.views import APIView

from carriers.products import PRODUCTS
from config.openapi.examples import LABEL, LABEL_ID, ORDER, PARCEL, PICKUP_ORDER, TRACKING_NUMBER
from labels.serializers import LabelOrderSerializer, LabelSerializer
from labels.views import LabelFileView, LabelViewSet
from parcels.models import MAX_KEY_LENGTH
from parcels.queries import SEARCH_LIMIT
from parcels.serializers import ParcelSerializer
from parcels.views import ParcelViewSet
from shops.authentication import BearerAuthentication


def product_table() -> str:
    rows = (
        f"| `{product.code}` | {product.carrier} | {product.meaning} | {'yes' if product.needs_pickup_point else 'no'}"
        f" | {product.max_weight_kg} kg |"
        for product in PRODUCTS.values()
    )
    head = "| productCode | carrierCode | meaning | pickup point | most a parcel weighs |\n|---|---|---|---|---|"
    return "\n".join([head, *rows])


LOOK_UP = extend_schema(
    operation_id="lookUpParcel",
    tags=["parcels"],
    summary="Look a parcel up",
    description=(
        "Answers with the shop's parcel that has the tracking number, as its `trackingId` or among its"
        " `trackingNumbers`. Of several the one that was created last is returned."
    ),
    parameters=[
        OpenApiParameter(
            "tracking_number",
            {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
            OpenApiParameter.PATH,
            description=(
                "Any of the parcel's tracking numbers, compared exactly. It may hold any character, escaped for the"
                " path: `REF/2026 0398` is `REF%2F2026%200398`."
            ),
            examples=[OpenApiExample("number", TRACKING_NUMBER)],
        )
    ],
    responses={200: OpenApiResponse(ParcelSerializer, "The parcel.", [OpenApiExample("parcel", PARCEL)])},
)
SEARCH = extend_schema(
    operation_id="searchParcels",
    tags=["parcels"],
    summary="Search parcels",
    description=(
        "Answers with the shop's parcels of an order, of a customer, or of both (then both must match), the one that"
        f" was created last first. At most {SEARCH_LIMIT} are returned; when nothing matches, the array is empty. At"
        " least one of the parameters is required."
    ),
    parameters=[
        OpenApiParameter(
            "orderName",
            str,
            description="The order's `orderNumber`, compared exactly. Empty counts as not given. Escape `#` as `%23`.",
            examples=[OpenApiExample("order", "#1001")],
        ),
        OpenApiParameter(
            "email",
            str,
            description="The customer's e-mail, compared exactly. Empty counts as not given. Escape `+` as `%2B`.",
            examples=[OpenApiExample("customer", "zoe.lefevre@example.com")],
        ),
    ],
    responses={
        200: OpenApiResponse(ParcelSerializer(many=True), "The parcels.", [OpenApiExample("found", PARCEL)]),
    },
)
BUY = extend_schema(
    operation_id="buyLabel",
    tags=["labels"],
    summary="Buy a label",
    description=(
        "Buys a label from the carrier, for one parcel or several, and answers with a URL of its PDF. Send an"
        " `Idempotency-Key` with every order: when no answer reaches you, the same key with the same body never buys a"
        " second label.\n\nUnknown fields in the body are ignored. No string may hold the NUL character.\n\n"
        + product_table()
    ),
    parameters=[
        OpenApiParameter(
            "Idempotency-Key",
            {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
            OpenApiParameter.HEADER,
            description=(
                "A name of your own for this order, such as a UUID, kept for at least 24 hours. The same key with the"
                " same JSON value answers with the same label; with another one it is refused."
            ),
            examples=[OpenApiExample("key", "order-1001-label-2")],
        )
    ],
    request=LabelOrderSerializer,
    examples=[
        OpenApiExample("alpha", ORDER, request_only=True, summary="One parcel, to the door, with alpha"),
        OpenApiExample("pickup", PICKUP_ORDER, request_only=True, summary="Two parcels to a pickup point of beta"),
    ],
    responses={201: OpenApiResponse(LabelSerializer, "The label.", [OpenApiExample("label", LABEL)])},
)
RETRIEVE = extend_schema(
    operation_id="retrieveLabel",
    tags=["labels"],
    summary="Retrieve a label",
    description="Answers with a label that was bought before, its `labelUrl` signed afresh for 15 minutes.",
    parameters=[
        OpenApiParameter(
            "label_id",
            {"type": "string", "pattern": "^[0-9A-Z]{15}$"},
            OpenApiParameter.PATH,
            description="The `id` of the answer that the label was bought with.",
            examples=[OpenApiExample("label", LABEL_ID)],
        )
    ],
    responses={200: OpenApiResponse(LabelSerializer, "The label.", [OpenApiExample("label", LABEL)])},
)
OPEN_PDF = extend_schema(
    operation_id="openLabelPdf",
    tags=["labels"],
    summary="Open a label's PDF",
    description=(
        "Where the service keeps the PDFs in a folder of its own, a `labelUrl` leads here. Follow the URL as it is:"
        " its signature is the permission, and no token is needed. Where the PDFs are in a bucket, a `labelUrl` leads"
        " to the bucket and nothing is found here."
    ),
    parameters=[
        OpenApiParameter(
            "signed_name",
            {"type": "string", "minLength": 1},
            OpenApiParameter.PATH,
            description="The name and its signature; it holds slashes, which are not escaped.",
            examples=[OpenApiExample("pdf", "labels/2026/11/0RCRUGWGBZDJINQ.pdf:1vMYyq:9f86d081")],
        )
    ],
    responses={(200, "application/pdf"): OpenApiResponse(bytes, "The PDF, a page or more for each parcel.")},
)
DESCRIBED: Final[dict[type[APIView], dict[str, Any]]] = {
    ParcelViewSet: {"retrieve": LOOK_UP, "search": SEARCH},
    LabelViewSet: {"create": BUY, "retrieve": RETRIEVE},
    LabelFileView: {"get": OPEN_PDF},
}


def described(view: type[APIView]) -> type[APIView]:
    """A stand-in for the view with what is said of it here; the view itself, which serves requests, stays as it is."""
    methods = {name: say(copy(view, name)) for name, say in DESCRIBED[view].items()}
    # The status of a refusal is all that tells the kinds of authentication apart.
    scheme = {"authentication_classes": [BearerAuthentication] if view.authentication_classes else []}
    return type(view.__name__, (view,), methods | scheme)


def copy(view: type[APIView], name: str) -> Callable[..., Any]:
    """A view's method as another function, for the decorator to write on."""
    method = getattr(view, name)

    @wraps(method)
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    return stand_in


class ParcelViews(OpenApiViewExtension):
    """The parcel endpoints."""

    target_class = "parcels.views.ParcelViewSet"

    def view_replacement(self) -> type[APIView]:
        return described(ParcelViewSet)


class LabelViews(OpenApiViewExtension):
    """The label endpoints."""

    target_class = "labels.views.LabelViewSet"

    def view_replacement(self) -> type[APIView]:
        return described(LabelViewSet)


class LabelFileViews(OpenApiViewExtension):
    """The PDFs."""

    target_class = "labels.views.LabelFileView"

    def view_replacement(self) -> type[APIView]:
        return described(LabelFileView)
