"""The OpenAPI description of the check of an order; the view is decorated with it."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema

from carriers.order_trials import Stage
from labels.openapi import CUSTOMS_ORDER, ORDER, PICKUP_ORDER
from labels.points.openapi import closed, text
from labels.serializers import LabelOrderSerializer
from shops.api.errors.entries import Failures
from shops.api.errors.plain import (
    BODY_INVALID,
    BODY_NOT_JSON,
    BODY_TOO_LARGE,
    HOST_UNKNOWN,
    HTTPS_REQUIRED,
    MEDIA_TYPE_UNSUPPORTED,
    PATH_UNKNOWN,
    TOKEN_INVALID,
    TOKEN_MISSING,
    TOO_BUSY,
)

Json = dict[str, Any]

STAGES: Final = [stage.value for stage in Stage]
PROBLEM: Final[Json] = {
    "code": "BETA_PICKUP_POINT_REJECTED",
    "field": "pickupPointCode",
    "message": "pickupPointCode: is closed; let the customer choose another one.",
    "from": Stage.PICKUP_POINT.value,
}
DAYS: Final[Json] = {"earliest": "2026-11-25", "latest": "2026-11-25"}
GOOD: Final[Json] = {
    "ok": True,
    "problems": [],
    "customsRequired": False,
    "delivery": DAYS,
    "checked": [Stage.SERVICE.value, Stage.CONTRACT.value, Stage.CARRIER.value],
}
BAD: Final[Json] = {
    "ok": False,
    "problems": [PROBLEM],
    "customsRequired": False,
    "delivery": None,
    "checked": [Stage.SERVICE.value, Stage.CONTRACT.value, Stage.PICKUP_POINT.value],
}
SCHEMAS: Final[Json] = {
    "OrderProblem": closed(
        "What would refuse the order.",
        {
            "code": {
                "anyOf": [{"$ref": "#/components/schemas/ErrorCode"}, {"type": "null"}],
                "description": "The `code` of the purchase's answer; null where that has none.",
                "examples": [PROBLEM["code"]],
            },
            "field": {
                "type": ["string", "null"],
                "description": "The JSON path of the field at fault, if it is known.",
                "examples": [PROBLEM["field"]],
            },
            "message": text("What is wrong and what to do, for a person.", PROBLEM["message"], minLength=1),
            "from": text("Who refuses it.", PROBLEM["from"], enum=STAGES),
        },
    ),
    "DeliveryDays": closed(
        "The days between which the parcels arrive.",
        {
            "earliest": text("The first day.", DAYS["earliest"], format="date"),
            "latest": text("The last day.", DAYS["latest"], format="date"),
        },
    ),
    "OrderCheck": closed(
        "What a purchase of the order would say.",
        {
            "ok": {"type": "boolean", "description": "True if nobody refuses the order.", "examples": [True]},
            "problems": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/OrderProblem"},
                "description": "The problems, none where the order is ok.",
                "examples": [[PROBLEM]],
            },
            "customsRequired": {
                "type": "boolean",
                "description": "True if the parcels cross a customs border, as far as both countries are known.",
                "examples": [False],
            },
            "delivery": {
                "anyOf": [{"$ref": "#/components/schemas/DeliveryDays"}, {"type": "null"}],
                "description": "The carrier's promise for the day of dispatch; null where it gives none.",
                "examples": [DAYS],
            },
            "checked": {
                "type": "array",
                "items": {"type": "string", "enum": STAGES},
                "description": "Who was asked. A service that is down is left out, and is no problem of the order.",
                "examples": [GOOD["checked"]],
            },
        },
    ),
}

check = extend_schema(
    operation_id="checkOrder",
    tags=["labels"],
    summary="Check an order",
    description=(
        "Takes the body of an order and tells what would refuse it: our own rules, the contract, the pickup point and"
        " the carrier, in this order. Nothing is bought or kept, and an `Idempotency-Key` is ignored. Whatever is wrong"
        " with the order, the answer is a 200; only what is no JSON object is a 400.\n\nbeta validates the whole order;"
        " alpha can be asked only if it sells the product for the destination."
    ),
    request=LabelOrderSerializer,
    examples=[
        OpenApiExample("alpha", ORDER, request_only=True, summary="One parcel, to the door, with alpha"),
        OpenApiExample("pickup", PICKUP_ORDER, request_only=True, summary="Two parcels to a pickup point of beta"),
        OpenApiExample("customs", CUSTOMS_ORDER, request_only=True, summary="With a customs declaration, to the US"),
    ],
    responses={
        200: OpenApiResponse(
            {"$ref": "#/components/schemas/OrderCheck"},
            "The verdict.",
            [OpenApiExample("ok", GOOD), OpenApiExample("problem", BAD)],
        )
    },
)

FAILURES: Final[dict[str, Failures]] = {
    "checkOrder": {
        400: (BODY_INVALID, BODY_NOT_JSON, HOST_UNKNOWN),
        401: (TOKEN_MISSING, TOKEN_INVALID),
        403: (HTTPS_REQUIRED,),
        404: (PATH_UNKNOWN,),
        413: (BODY_TOO_LARGE,),
        415: (MEDIA_TYPE_UNSUPPORTED,),
        503: (TOO_BUSY,),
    }
}
