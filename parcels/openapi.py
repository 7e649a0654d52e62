"""The OpenAPI description of the parcel endpoints; their views are decorated with it."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from parcels.models import MAX_KEY_LENGTH
from parcels.queries import SEARCH_LIMIT
from parcels.serializers import ParcelSerializer
from shops.api.errors.entries import Failures
from shops.api.errors.plain import (
    HOST_UNKNOWN,
    HTTPS_REQUIRED,
    PARCEL_NOT_FOUND,
    PATH_UNKNOWN,
    REQUEST_UNREADABLE,
    SEARCH_WITHOUT_FILTER,
    TOKEN_INVALID,
    TOKEN_MISSING,
)

Json = dict[str, Any]

TRACKING_NUMBER: Final = "XU000000020FR"
PARCEL: Final[Json] = {
    "id": "P00000002",
    "shopId": "demo",
    "orderId": "5400000002",
    "orderNumber": "#1001",
    "trackingId": TRACKING_NUMBER,
    "trackingNumbers": [TRACKING_NUMBER],
    "carrierCode": "alpha",
    "carrierProduct": "alpha-13",
    "carrierDisplayName": "Alpha Express",
    "lastStatus": "DELIVERED",
    "lastStatusUpdatedAt": 1795140750757,
    "carrierLastStatus": {"code": "D", "description": "Livré", "date": 1795140750757},
    "estimatedDeliveryDateWindow": {
        "exactDeliveryDay": 1795132800000,
        "minimumDeliveryDate": 1795125600000,
        "maximumDeliveryDate": 1795150800000,
    },
    "deliveryDate": 1795140750757,
    "endDepositDate": None,
    "destination": {
        "firstName": "Zoë",
        "lastName": "Lefèvre",
        "name": "Zoë Lefèvre",
        "company": "",
        "address1": "18 impasse des Œillets",
        "address2": None,
        "city": "Lyon",
        "zip": "69007",
        "province": "Auvergne-Rhône-Alpes",
        "provinceCode": "ARA",
        "country": "France",
        "countryCode": "FR",
        "phone": "+33699001122",
        "latitude": 45.7484,
        "longitude": 4.8467,
        "isPickupPoint": False,
    },
    "lineItems": [
        {
            "lineItemId": "li_2",
            "name": "Carnet A5",
            "imageUrl": "https://cdn.example.com/CRN-A5.jpg",
            "sku": "CRN-A5",
            "quantity": 2,
            "price": 9.95,
            "productId": "prod_crn-a5",
            "metadata": None,
        }
    ],
    "events": [
        {
            "status": "DELIVERED",
            "createdAt": 1795140750757,
            "label": "Livré",
            "carrierStatusCode": "D",
            "isNotificationSkipped": False,
            "notifications": [],
        },
        {
            "status": "FULFILLED",
            "createdAt": 1794867519123,
            "label": "Commande expédiée",
            "carrierStatusCode": None,
            "isNotificationSkipped": True,
            "notifications": [],
        },
    ],
    "createdAt": 1794867519123,
    "updatedAt": 1795140750757,
}
PARCELS: Final[Json] = {
    "type": "array",
    "items": {"$ref": "#/components/schemas/Parcel"},
    "maxItems": SEARCH_LIMIT,
}
# The scheme is that of BearerAuthentication; drf-spectacular takes one class a scheme.
AUTHENTICATION: Final[list[Any]] = [{"accessToken": []}]

look_up = extend_schema(
    operation_id="lookUpParcel",
    auth=AUTHENTICATION,
    tags=["parcels"],
    summary="Look a parcel up",
    description=(
        "Returns the shop's parcel with this tracking number, as its `trackingId` or among its `trackingNumbers`. If"
        " several parcels have it, the one created last is returned."
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

search = extend_schema(
    operation_id="searchParcels",
    auth=AUTHENTICATION,
    tags=["parcels"],
    summary="Search parcels",
    description=(
        "Returns the shop's parcels of an order, of a customer, or of both (then both must match), those created last"
        f" first. At most {SEARCH_LIMIT} are returned; when nothing matches, the array is empty. At least one of the"
        " parameters is required."
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
        200: OpenApiResponse(PARCELS, "The parcels.", [OpenApiExample("found", [PARCEL])]),
    },
)

# The failures of each operation by status, besides those of every endpoint.
FAILURES: Final[dict[str, Failures]] = {
    "lookUpParcel": {
        400: (HOST_UNKNOWN,),
        403: (TOKEN_MISSING, TOKEN_INVALID, HTTPS_REQUIRED),
        404: (PARCEL_NOT_FOUND, PATH_UNKNOWN),
    },
    "searchParcels": {
        400: (SEARCH_WITHOUT_FILTER, REQUEST_UNREADABLE, HOST_UNKNOWN),
        403: (TOKEN_MISSING, TOKEN_INVALID, HTTPS_REQUIRED),
    },
}
# The requests that follow from an answer.
LINKS: Final[Json] = {
    "lookUpParcel": {
        "parcelsOfTheSameOrder": {
            "operationId": "searchParcels",
            "parameters": {"orderName": "$response.body#/orderNumber"},
            "description": "The other parcels of the order.",
        }
    },
}
