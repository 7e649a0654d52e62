"""The OpenAPI description of the pickup points; the view is decorated with it."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema

from carriers import CARRIERS
from carriers.errors import (
    CarrierUnavailable,
    CredentialsRejected,
    ProductNotInContract,
    RequestRejected,
)
from labels.openapi import of_carriers
from labels.points.serializers import MAX_KG, MAX_LIMIT, PICKUP_PRODUCTS, WEEKDAYS, PointQuerySerializer
from shops.api.errors.entries import Failures
from shops.api.errors.plain import (
    HOST_UNKNOWN,
    HTTPS_REQUIRED,
    PATH_UNKNOWN,
    QUERY_INVALID,
    REQUEST_UNREADABLE,
    TOKEN_INVALID,
    TOKEN_MISSING,
)
from shops.api.query_fields import described

Json = dict[str, Any]

QUERY: Final[Json] = {
    "productCode": "beta_point_retrait_france",
    "zip": "69002",
    "city": "Lyon",
    "countryCode": "FR",
    "address1": "18 rue de la République",
    "weight": 1.2,
    "shipDate": "2026-11-25",
    "limit": 3,
}
HOURS: Final = [["09:00", "12:00"], ["14:00", "18:00"]]
POINT: Final[Json] = {
    "pickupPointCode": "692690",
    "name": "Bureau de poste Lyon Bellecour",
    "address1": "10 place Antonin Poncet",
    "address2": "",
    "zip": "69002",
    "city": "Lyon",
    "countryCode": "FR",
    "latitude": 45.757,
    "longitude": 4.834,
    "distance": 172,
    "kind": "post_office",
    "maxWeight": 30,
    "openingHours": {**dict.fromkeys(WEEKDAYS[:5], HOURS), "saturday": [["09:00", "12:00"]], "sunday": []},
    "closures": [{"from": "2026-12-24", "to": "2026-12-31"}],
}
ANSWER: Final[Json] = {"data": [POINT], "asOf": "2026-11-21T04:24:48.400Z"}
CODES: Final = "|".join(carrier.pickup_point_code.pattern for carrier in CARRIERS.values())
TIME: Final[Json] = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}


def closed(description: str, properties: Json) -> Json:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text(description: str, example: str, **keywords: Any) -> Json:
    return {"type": "string", "description": description, "examples": [example]} | keywords


def number(description: str, example: float, **keywords: Any) -> Json:
    return {"type": ["number", "null"], "description": description, "examples": [example]} | keywords


SPANS: Final[Json] = {
    "type": "array",
    "description": "The spans, each from and to, in order; none on a day that is closed.",
    "items": {"type": "array", "items": TIME, "minItems": 2, "maxItems": 2},
    "examples": [HOURS],
}
CLOSURE: Final = closed(
    "A period in which the point is closed, both days included.",
    {
        "from": text("The first day.", "2026-12-24", format="date"),
        "to": text("The last day.", "2026-12-31", format="date"),
    },
)
SCHEMAS: Final[Json] = {
    "OpeningHours": closed("The opening hours of a week, in local time.", dict.fromkeys(WEEKDAYS, SPANS)),
    "Closure": CLOSURE,
    "PickupPoint": closed(
        "A pickup point that takes the parcel.",
        {
            "pickupPointCode": text("What the order takes.", "692690", pattern=f"^({CODES})$"),
            "name": text("The point's name.", POINT["name"]),
            "address1": text("Its street and number.", POINT["address1"]),
            "address2": text("Building or hall, or empty.", "Hall B"),
            "zip": text("Its postal code.", "69002"),
            "city": text("Its town.", "Lyon"),
            "countryCode": {
                "allOf": [{"$ref": "#/components/schemas/CountryCode"}],
                "description": "Its country.",
                "examples": ["FR"],
            },
            "latitude": number("Degrees, or null.", 45.757, minimum=-999, maximum=999),
            "longitude": number("Degrees, or null.", 4.834, minimum=-999, maximum=999),
            "distance": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "Metres from the place that was searched for; null where the carrier doesn't know it.",
                "examples": [172],
            },
            "kind": text(
                "A `locker`, a `post_office`, or else a `relay`: what the carrier does not tell apart is one, too.",
                "post_office",
                enum=["relay", "locker", "post_office"],
            ),
            "maxWeight": number("The heaviest parcel that it takes, in kilograms, or null.", 30, exclusiveMinimum=0),
            "openingHours": {
                "anyOf": [{"$ref": "#/components/schemas/OpeningHours"}, {"type": "null"}],
                "description": "Null where the carrier says none, as of a locker that is always open.",
                "examples": [POINT["openingHours"]],
            },
            "closures": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/Closure"},
                "description": "The closures that are known; none is on the day of the search.",
                "examples": [POINT["closures"]],
            },
        },
    ),
    "PickupPoints": closed(
        "Pickup points, nearest first.",
        {
            "data": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/PickupPoint"},
                "maxItems": MAX_LIMIT,
                "description": "The points, an empty array where there is none.",
                "examples": [[POINT]],
            },
            "asOf": text(
                "When the carrier was asked: ISO 8601, UTC. Usually within a quarter of an hour; while the carrier is"
                " down, within a day.",
                ANSWER["asOf"],
                format="date-time",
                pattern="Z$",
            ),
        },
    ),
}
# What a parameter's field does not say of itself.
PARAMETERS: Final[Json] = {
    "countryCode": {"$ref": "#/components/schemas/CountryCode"},
    "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": int(MAX_KG), "multipleOf": 0.001},
    "shipDate": {"type": "string", "format": "date"},
}

find = extend_schema(
    operation_id="findPickupPoints",
    tags=["labels"],
    summary="Search pickup points",
    description=(
        "Returns the pickup points near a place that the same order would be sold to: open on the day, heavy enough,"
        " of the product's network; nearest first. Take a point's `pickupPointCode` into the order. The shop needs a"
        f" contract with the product ({', '.join(f'`{code}`' for code in PICKUP_PRODUCTS)}).\n\nA carrier's answer is"
        " kept for a quarter of an hour; while the carrier is down its last answer of the day serves, and `asOf` tells"
        " its age."
    ),
    parameters=described(PointQuerySerializer, QUERY, PARAMETERS),
    responses={
        200: OpenApiResponse(
            {"$ref": "#/components/schemas/PickupPoints"}, "The points.", [OpenApiExample("points", ANSWER)]
        )
    },
)

FAILURES: Final[dict[str, Failures]] = {
    "findPickupPoints": {
        400: (
            *(QUERY_INVALID, HOST_UNKNOWN, REQUEST_UNREADABLE),
            *of_carriers(ProductNotInContract, RequestRejected),
        ),
        401: (TOKEN_MISSING, TOKEN_INVALID),
        403: (HTTPS_REQUIRED,),
        404: (PATH_UNKNOWN,),
        502: of_carriers(CredentialsRejected, CarrierUnavailable),
    }
}
