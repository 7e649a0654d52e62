"""The OpenAPI description of the list of labels, and of their cancellation."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema

from carriers.errors import CarrierUnavailable, CredentialsRejected
from labels.listing import LabelQuerySerializer
from labels.openapi import LABEL, LABEL_ID, LABEL_ID_PARAMETER, of_carriers
from labels.serializers import CancellationSerializer, LabelListSerializer
from shops.api.cursors import PAGE_EXAMPLES
from shops.api.errors.coded import LABEL_NOT_CANCELLABLE
from shops.api.errors.entries import Failures
from shops.api.errors.plain import (
    HOST_UNKNOWN,
    HTTPS_REQUIRED,
    LABEL_NOT_FOUND,
    PATH_UNKNOWN,
    QUERY_INVALID,
    REQUEST_UNREADABLE,
    TOKEN_INVALID,
    TOKEN_MISSING,
)
from shops.api.query_fields import described

Json = dict[str, Any]

LISTED_PARCEL: Final[Json] = {"trackingNumber": "XU952350871FR", "weight": 1.2, "reference": None}
LISTED_LABEL: Final[Json] = {name: value for name, value in LABEL.items() if name != "labelUrl"} | {
    "reference": "ORDER 1001",
    "parcels": [LISTED_PARCEL],
    "warnings": ["L'adresse a été coupée"],
}
LABEL_LIST: Final[Json] = {"data": [LISTED_LABEL], "next": PAGE_EXAMPLES["cursor"]}
CANCELLATION: Final[Json] = {"id": LABEL_ID, "status": "cancelled", "trackingNumbers": ["XU952350871FR"]}
FILTERS: Final[Json] = {
    "orderId": "5400000002",
    "reference": "ORDER 1001",
    "trackingNumber": "XU952350871FR",
    "carrierCode": "alpha",
    "createdFrom": "2026-11-01",
    "createdTo": "2026-11-21T04:24:48Z",
}

listing = extend_schema(
    operation_id="listLabels",
    tags=["labels"],
    summary="List labels",
    description=(
        "Returns the shop's labels, the newest first, by pages: ask again with `next` as `cursor` until it is null. A"
        " label that is bought meanwhile is neither lost nor repeated: it is on the first page of the next listing."
        " Orders that failed and labels that are cancelled are not in it. A label has no URL here: retrieve it. A"
        " parameter that is unknown is refused."
    ),
    parameters=described(LabelQuerySerializer, FILTERS | PAGE_EXAMPLES),
    responses={200: OpenApiResponse(LabelListSerializer, "A page of labels.", [OpenApiExample("labels", LABEL_LIST)])},
)

cancel = extend_schema(
    operation_id="cancelLabel",
    tags=["labels"],
    summary="Cancel a label",
    description=(
        "Cancels a label that is not used, at the carrier where it bills one that was made; the shop can't retrieve"
        " it any more, and its parcel is no longer found. `cancelling` settles itself within the hour: the webhook"
        " `label.cancelled` tells of it, as does this request when it is repeated, which is safe. Until then the label"
        " may stay bought. A body is neither needed nor read."
    ),
    request=None,
    parameters=[LABEL_ID_PARAMETER],
    responses={
        200: OpenApiResponse(
            CancellationSerializer, "The cancellation, now or before.", [OpenApiExample("cancelled", CANCELLATION)]
        )
    },
)

# The failures of each operation by status, besides those of every endpoint.
FAILURES: Final[dict[str, Failures]] = {
    "listLabels": {
        400: (QUERY_INVALID, REQUEST_UNREADABLE, HOST_UNKNOWN),
        401: (TOKEN_MISSING, TOKEN_INVALID),
        403: (HTTPS_REQUIRED,),
    },
    "cancelLabel": {
        400: (HOST_UNKNOWN,),
        401: (TOKEN_MISSING, TOKEN_INVALID),
        403: (HTTPS_REQUIRED,),
        404: (LABEL_NOT_FOUND, PATH_UNKNOWN),
        409: (LABEL_NOT_CANCELLABLE,),
        502: of_carriers(CredentialsRejected, CarrierUnavailable),
    },
}
