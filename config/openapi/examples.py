"""The examples in the description: one parcel, one order with its label, and a body for every error."""

from typing import Any, Final

from carriers.errors import CarrierError
from config.api.error_catalogue import CODES, PLAIN_ERRORS
from labels.errors import (
    IdempotencyKeyInProgressError,
    IdempotencyKeyInvalidError,
    IdempotencyKeyReusedError,
    LabelError,
    PdfUnavailableError,
    StorageUnavailableError,
    message_of,
)
from labels.models import ShippingLabel

Json = dict[str, Any]

LABEL_ID: Final = "0RCRUGWGBZDJINQ"
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
        "phone": "+33612345678",
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
SENDER: Final[Json] = {
    "firstName": "Atelier",
    "lastName": "Nord",
    "address1": "12 rue du Port",
    "city": "Lille",
    "zip": "59000",
    "countryCode": "FR",
    "phone": "+33320123456",
}
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
        "phone": "06 12 34 56 78",
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
ERROR_TIME: Final = "2026-11-21T03:12:30.620Z"
_LABEL_ERRORS: Final[tuple[LabelError, ...]] = (
    IdempotencyKeyInvalidError(),
    IdempotencyKeyInProgressError(),
    IdempotencyKeyReusedError(),
    StorageUnavailableError(ShippingLabel(id=LABEL_ID, idempotency_key="order-1001")),
)
# What an operation says with a code in words of its own.
_ERRORS_OF: Final[dict[str, tuple[LabelError, ...]]] = {"openLabelPdf": (PdfUnavailableError(),)}


def error_body(name: str, status: int, operation: str, methods: str) -> Json:
    """The body of an error of the catalogue, by its code or its name; the operation's path takes these methods."""
    if name in PLAIN_ERRORS:
        message = PLAIN_ERRORS[name].message.replace("GET, HEAD", methods)
        return {"message": message, "statusCode": status, "timestamp": ERROR_TIME}
    return {"message": coded_message(name, operation), "statusCode": status, "timestamp": ERROR_TIME, "code": name}


def coded_message(code: str, operation: str) -> str:
    """What the service says with a code, in the words of its own exception."""
    errors = (*_LABEL_ERRORS, *_ERRORS_OF.get(operation, ()))
    own = {error.public_code: str(error.detail) for error in errors}
    return own[code] if code in own else message_of(_carrier_error(code))


def _carrier_error(code: str) -> CarrierError:
    carrier, _, suffix = CODES[code].code.partition("_")
    error = next(each for each in _tree(CarrierError) if each.code_suffix == suffix)
    return error(carrier.lower())


def _tree(error: type[CarrierError]) -> list[type[CarrierError]]:
    """The leaves first: a class above may share a suffix."""
    return [below for each in error.__subclasses__() for below in _tree(each)] + [error]
