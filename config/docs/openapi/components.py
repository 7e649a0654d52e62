"""The parts that many answers share: their headers and the error's body."""

from typing import Any, Final

from shops.api.errors.coded import CODES
from shops.api.errors.plain import SEARCH_WITHOUT_FILTER

Json = dict[str, Any]

ERROR_TIME: Final = "2026-11-21T03:12:30.620Z"
# The methods that a path with this operation takes, as `Allow` lists them.
METHODS: Final = {"get": "GET, HEAD", "post": "POST", "patch": "PATCH", "delete": "DELETE"}
HEADERS: Final[dict[str, Json]] = {
    "XRequestId": {
        "description": "The request's identifier. Quote it when you report a failure.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$", "examples": ["83c3adbe65a9088311bb78c8cb4ca226"]},
    },
    "CacheControl": {
        "description": "Answers hold customers' data: caches must not store them.",
        "required": True,
        "schema": {"type": "string", "enum": ["no-store", "private, no-store"]},
    },
    "RateLimitPolicy": {
        "description": "The shop's limit: `q` requests in `w` seconds.",
        "required": True,
        "schema": {"type": "string", "pattern": '^"shop";q=[0-9]+;w=[0-9]+$', "examples": ['"shop";q=100;w=60']},
    },
    "RateLimit": {
        "description": "`r` requests are left in this window; a new window begins in `t` seconds at the latest.",
        "required": True,
        "schema": {"type": "string", "pattern": '^"shop";r=[0-9]+;t=[0-9]+$', "examples": ['"shop";r=99;t=47']},
    },
    "RetryAfter": {
        "description": "Seconds to wait; after a 429, a request after that is not refused for the same reason.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1, "examples": [31]},
    },
    "IdempotentReplayed": {
        "description": "`true` if the label was bought before with the same Idempotency-Key; otherwise left out.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Location": {
        "description": "The path at which it is retrieved.",
        "required": True,
        "schema": {"type": "string", "examples": ["/public/v1/tracking/shipments/0RCRUGWGBZDJINQ"]},
    },
    "LabelWarnings": {
        "description": (
            "What the carrier said of the bought label, such as that it cut a line, or that a customs form is missing:"
            " at most 5 texts, separated by a comma and a space; in them the percent sign, the comma and all but"
            " printable ASCII are percent-encoded (UTF-8). Left out if there are none."
        ),
        "schema": {
            "type": "string",
            "pattern": "^[ -~]+$",
            "examples": ["L'adresse a %C3%A9t%C3%A9 coup%C3%A9e, Ligne 3 non imprim%C3%A9e"],
        },
    },
    "LabelId": {
        "description": "The `id` of the label whose outcome is unknown; left out of other errors.",
        "schema": {"type": "string", "pattern": "^[0-9A-Z]{15}$", "examples": ["0RCRUGWGBZDJINQ"]},
    },
    "IgnoredFields": {
        "description": (
            "The fields of the body that are unknown or not needed for this order, as JSON paths: at most 20, in the"
            " body's order, everything but letters, digits and `.[]_-` percent-encoded. Left out if there are none."
        ),
        "schema": {
            "type": "string",
            "pattern": r"^[A-Za-z0-9.\[\]_%, -]+$",
            "examples": ["destinationAddress.state, parcels[0].length"],
        },
    },
    "WWWAuthenticate": {
        "description": 'The challenge; with `error="invalid_token"` where a token was sent.',
        "required": True,
        "schema": {
            "type": "string",
            "pattern": '^Bearer realm="[^"]+"(, error="invalid_token")?$',
            "examples": ['Bearer realm="parcel-service"'],
        },
    },
    "ContentDisposition": {
        "description": "The file name for saving the PDF.",
        "required": True,
        "schema": {"type": "string", "examples": ['inline; filename="label-0RCRUGWGBZDJINQ.pdf"']},
    },
    "Allow": {
        "description": "The methods that the path takes.",
        "required": True,
        "schema": {"type": "string", "examples": list(METHODS.values())},
    },
}
# On requests that may have failed before their token was checked.
for name in ("RateLimitPolicy", "RateLimit"):
    HEADERS[f"{name}IfCounted"] = {
        "description": f"{HEADERS[name]['description']} Only where the request had a valid token.",
        "schema": HEADERS[name]["schema"],
    }
# On some errors of a status only.
HEADERS["RetryAfterIfRepeatable"] = {
    "description": "Seconds to wait. Only where the order may be sent again.",
    "schema": HEADERS["RetryAfter"]["schema"] | {"examples": [30]},
}
HEADERS["RetryAfterIfStored"] = {
    "description": "Seconds to wait. Only where the PDF is stored, but can't be read now.",
    "schema": HEADERS["RetryAfter"]["schema"] | {"examples": [2]},
}
ERROR: Final[Json] = {
    "type": "object",
    "description": "The body of every failure.",
    "properties": {
        "message": {
            "type": "string",
            "minLength": 1,
            "description": "What went wrong and what to do, for a person. Do not parse it.",
            "examples": [SEARCH_WITHOUT_FILTER.message],
        },
        "statusCode": {
            "type": "integer",
            "minimum": 400,
            "maximum": 599,
            "description": "The HTTP status.",
            "examples": [400],
        },
        "timestamp": {
            "type": "string",
            "format": "date-time",
            "pattern": "Z$",
            "description": "When it happened: ISO 8601, UTC.",
            "examples": [ERROR_TIME],
        },
        "code": {
            "allOf": [{"$ref": "#/components/schemas/ErrorCode"}],
            "description": "The error's identifier, for programs: on some errors of labels and of PDFs' URLs.",
        },
    },
    "required": ["message", "statusCode", "timestamp"],
    "additionalProperties": False,
}
ERROR_CODE: Final[Json] = {
    "type": "string",
    "enum": list(CODES),
    "description": "\n".join(f"* {entry.explanation}" for entry in CODES.values()),
    "examples": ["ALPHA_ADDRESS_REJECTED"],
}
SCHEMAS: Final = {"Error": ERROR, "ErrorCode": ERROR_CODE}
