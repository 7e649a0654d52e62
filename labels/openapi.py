"""The OpenAPI description of the label endpoints; their views are decorated with it."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from carriers import CARRIERS
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    PickupPointRejected,
    ProductNotInContract,
    RequestRejected,
)
from carriers.products import PRODUCTS
from labels.serializers import LabelOrderSerializer, LabelSerializer
from shops.api.errors.coded import (
    CODES,
    IDEMPOTENCY_KEY_IN_PROGRESS,
    IDEMPOTENCY_KEY_INVALID,
    IDEMPOTENCY_KEY_REUSED,
    LABEL_BEING_CANCELLED,
    LABEL_CANCELLED,
    LABEL_STORAGE_UNAVAILABLE,
    PDF_UNREADABLE,
)
from shops.api.errors.entries import ErrorEntry, Failures
from shops.api.errors.plain import (
    BODY_INVALID,
    BODY_NOT_JSON,
    BODY_TOO_LARGE,
    HOST_UNKNOWN,
    HTTPS_REQUIRED,
    LABEL_NOT_FOUND,
    LINK_INVALID,
    MEDIA_TYPE_UNSUPPORTED,
    ORDERS_HELD_UP,
    PATH_UNKNOWN,
    PDF_NOT_FOUND,
    TOKEN_INVALID,
    TOKEN_MISSING,
    TOO_BUSY,
)

Json = dict[str, Any]

LABEL_ID: Final = "0RCRUGWGBZDJINQ"
SENDER: Final[Json] = {
    "firstName": "Atelier",
    "lastName": "Nord",
    "address1": "12 rue du Port",
    "city": "Lille",
    "zip": "59000",
    "countryCode": "FR",
    "phone": "+33320001122",
}
# What an address may say beside the fields that most have.
FURTHER: Final[Json] = {"company": "Atelier Nord SARL", "address2": "Bâtiment C, 3e étage"}
ORDER: Final[Json] = {
    "orderId": "5400000002",
    "carrierCode": "alpha",
    "productCode": "alpha-13",
    "reference": "ORDER 1001",
    "originAddress": SENDER,
    "destinationAddress": {
        "firstName": "Zoë",
        "lastName": "Lefèvre",
        "address1": "18 impasse des Œillets",
        "city": "Lyon",
        "zip": "69007",
        "countryCode": "FR",
        "phone": "06 99 00 11 22",
        "email": "zoe.lefevre@example.com",
    },
    "parcels": [{"weight": 1.2}],
}
PICKUP_ORDER: Final[Json] = {
    "orderId": "5400000003",
    "carrierCode": "beta",
    "productCode": "beta_point_retrait_france",
    "pickupPointCode": "006431",
    "destinationAddress": ORDER["destinationAddress"],
    "parcels": [{"weight": 0.75}, {"weight": 2}],
}
CUSTOMS: Final[Json] = {
    "items": [
        {
            "description": "Scented candle, soy wax",
            "quantity": 2,
            "unitValue": 24.9,
            "hsCode": "340600",
            "originCountry": "FR",
            "weight": 0.45,
            "parcel": 0,
        }
    ],
    "shippingCost": 18.5,
    "invoiceNumber": "2026-1001",
    "eori": "FR12345678900012",
    "dutiesPaidBySender": False,
    "comments": "FRATENOR12LIL",
}
CUSTOMS_ORDER: Final[Json] = {
    "orderId": "5400000004",
    "carrierCode": "beta",
    "productCode": "beta_domicile_signature_monde",
    "destinationAddress": {
        "firstName": "Ada",
        "lastName": "Byron",
        "address1": "350 Fifth Avenue",
        "city": "New York",
        "zip": "10118",
        "countryCode": "US",
        "provinceCode": "NY",
        "phone": "+12125550100",
        "email": "ada.byron@example.com",
    },
    "parcels": [{"weight": 1.2, "length": 30, "width": 20, "height": 12.5, "reference": "ORDER 1003/1"}],
    "insuredValue": 150,
    "labelFormat": "A4",
    "customs": CUSTOMS,
}
LABEL: Final[Json] = {
    "id": LABEL_ID,
    "shopId": "demo",
    "orderId": "5400000002",
    "carrierCode": "alpha",
    "productCode": "alpha-13",
    "trackingNumber": "XU952350871FR",
    "labelUrl": "https://labels.example.com/labels/2026/11/0RCRUGWGBZDJINQ.pdf?X-Amz-Signature=9f86d081",
    "weight": 1.2,
    "status": "label_generated",
    "createdAt": "2026-11-21T04:24:48.400Z",
}


def product_table() -> str:
    rows = (
        f"| `{product.code}` | {product.carrier} | {product.meaning} | {'yes' if product.needs_pickup_point else 'no'}"
        f" | {product.max_weight_kg} kg |"
        for product in PRODUCTS.values()
    )
    head = "| productCode | carrierCode | meaning | pickup point | maximum weight per parcel |\n|---|---|---|---|---|"
    return "\n".join([head, *rows])


buy = extend_schema(
    operation_id="buyLabel",
    tags=["labels"],
    summary="Buy a label",
    description=(
        "Buys a label from the carrier, for one parcel or several, and returns a URL of its PDF. Send an"
        " `Idempotency-Key` with every order: when no answer reaches you, the same key with the same body never buys a"
        " second label.\n\nA pickup point needs its code only: the carrier gives its name and address, and the"
        " customer's name stands beside them. A destination outside the customs union needs `customs`, or the"
        " declaration that the shop's contract makes by default; beta's PDF then ends with the customs form.\n\n"
        "Nothing that an order says is dropped in silence: what has no place with the carrier is refused by its path,"
        " and unknown fields and those that are not needed are ignored and named in the header `Ignored-Fields`. No"
        " string may hold the NUL character.\n\n" + product_table()
    ),
    parameters=[
        OpenApiParameter(
            "Idempotency-Key",
            {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
            OpenApiParameter.HEADER,
            description=(
                "Your own name for this order, such as a UUID, kept for at least 24 hours. The same key with the same"
                " JSON value returns the same label; with another value it is refused."
            ),
            examples=[OpenApiExample("key", "order-1001-label-2")],
        )
    ],
    request=LabelOrderSerializer,
    examples=[
        OpenApiExample("alpha", ORDER, request_only=True, summary="One parcel, to the door, with alpha"),
        OpenApiExample("pickup", PICKUP_ORDER, request_only=True, summary="Two parcels to a pickup point of beta"),
        OpenApiExample("customs", CUSTOMS_ORDER, request_only=True, summary="With a customs declaration, to the US"),
    ],
    responses={201: OpenApiResponse(LabelSerializer, "The label.", [OpenApiExample("label", LABEL)])},
)

LABEL_ID_PARAMETER: Final = OpenApiParameter(
    "label_id",
    {"type": "string", "pattern": "^[0-9A-Z]{15}$"},
    OpenApiParameter.PATH,
    description="The `id` from the answer to the order.",
    examples=[OpenApiExample("label", LABEL_ID)],
)

retrieve = extend_schema(
    operation_id="retrieveLabel",
    tags=["labels"],
    summary="Retrieve a label",
    description="Returns a label bought before, its `labelUrl` freshly signed for 15 minutes.",
    parameters=[LABEL_ID_PARAMETER],
    responses={200: OpenApiResponse(LabelSerializer, "The label.", [OpenApiExample("label", LABEL)])},
)

open_pdf = extend_schema(
    operation_id="openLabelPdf",
    tags=["labels"],
    summary="Open a label's PDF",
    description=(
        "If the service keeps PDFs in a local folder, a `labelUrl` leads here. Follow the URL unchanged: its signature"
        " is the permission, and no token is needed. If PDFs are in a bucket, a `labelUrl` leads to the bucket and"
        " nothing is found here."
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
    responses={
        (200, "application/pdf"): OpenApiResponse(
            bytes, "The PDF: a page or more for each parcel, then the customs form's."
        )
    },
)


def of_carriers(*errors: type[CarrierError]) -> tuple[ErrorEntry, ...]:
    return tuple(CODES[error.code_for(carrier)] for error in errors for carrier in CARRIERS)


# The failures of each operation by status, besides those of every endpoint.
FAILURES: Final[dict[str, Failures]] = {
    "buyLabel": {
        400: (
            *(BODY_INVALID, BODY_NOT_JSON, HOST_UNKNOWN, IDEMPOTENCY_KEY_INVALID),
            *of_carriers(ProductNotInContract, AddressRejected, PickupPointRejected, RequestRejected),
        ),
        401: (TOKEN_MISSING, TOKEN_INVALID),
        403: (HTTPS_REQUIRED,),
        409: (IDEMPOTENCY_KEY_IN_PROGRESS, LABEL_BEING_CANCELLED, LABEL_CANCELLED),
        413: (BODY_TOO_LARGE,),
        415: (MEDIA_TYPE_UNSUPPORTED,),
        422: (IDEMPOTENCY_KEY_REUSED,),
        500: (LABEL_STORAGE_UNAVAILABLE,),
        502: of_carriers(CredentialsRejected, CarrierUnavailable, OutcomeUnknown),
        503: (TOO_BUSY, ORDERS_HELD_UP),
    },
    "retrieveLabel": {
        400: (HOST_UNKNOWN,),
        401: (TOKEN_MISSING, TOKEN_INVALID),
        403: (HTTPS_REQUIRED,),
        404: (LABEL_NOT_FOUND, PATH_UNKNOWN),
        500: (LABEL_STORAGE_UNAVAILABLE,),
    },
    "openLabelPdf": {
        400: (HOST_UNKNOWN,),
        403: (LINK_INVALID, HTTPS_REQUIRED),
        404: (PDF_NOT_FOUND,),
        500: (PDF_UNREADABLE,),
    },
}
# The requests that follow from an answer.
LINKS: Final[Json] = {
    "buyLabel": {
        "labelAgain": {
            "operationId": "retrieveLabel",
            "parameters": {"labelId": "$response.body#/id"},
            "description": "The same label later, with a fresh URL.",
        },
        "cancellation": {
            "operationId": "cancelLabel",
            "parameters": {"labelId": "$response.body#/id"},
            "description": "Its cancellation.",
        },
    },
}
