"""Every failure of every operation, by status, as names of the catalogue; and the headers that answers carry."""

from typing import Any, Final

from carriers import CARRIERS
from config.api.error_catalogue import CODES, PLAIN_ERRORS
from config.openapi.examples import error_body

Json = dict[str, Any]

PARCEL: Final = {403: ("token_missing", "token_invalid")}
LABEL: Final = {401: ("token_missing", "token_invalid")}
ANYWHERE: Final = {405: ("method_not_allowed",), 429: ("limit_exceeded",), 500: ("unexpected",)}


def of_carriers(*suffixes: str) -> tuple[str, ...]:
    return tuple(f"{carrier.upper()}_{suffix}" for suffix in suffixes for carrier in CARRIERS)


FAILURES: Final[dict[str, dict[int, tuple[str, ...]]]] = {
    "lookUpParcel": {
        400: ("host_unknown",),
        404: ("parcel_not_found", "path_unknown"),
        **PARCEL,
        **ANYWHERE,
    },
    "searchParcels": {
        400: ("search_without_filter", "request_unreadable", "host_unknown"),
        **PARCEL,
        **ANYWHERE,
    },
    "buyLabel": {
        400: (
            *("body_invalid", "body_not_json", "host_unknown", "IDEMPOTENCY_KEY_INVALID"),
            *of_carriers("PRODUCT_NOT_IN_CONTRACT", "ADDRESS_REJECTED", "PICKUP_POINT_REJECTED", "REQUEST_REJECTED"),
        ),
        409: ("IDEMPOTENCY_KEY_IN_PROGRESS",),
        413: ("body_too_large",),
        415: ("media_type_unsupported",),
        422: ("IDEMPOTENCY_KEY_REUSED",),
        502: of_carriers("CREDENTIALS_REJECTED", "UNAVAILABLE", "OUTCOME_UNKNOWN"),
        503: ("too_busy",),
        **LABEL,
        **ANYWHERE,
        500: ("unexpected", "LABEL_STORAGE_UNAVAILABLE"),
    },
    "retrieveLabel": {
        400: ("host_unknown",),
        404: ("label_not_found", "path_unknown"),
        **LABEL,
        **ANYWHERE,
        500: ("unexpected", "LABEL_STORAGE_UNAVAILABLE"),
    },
    "openLabelPdf": {
        400: ("host_unknown",),
        403: ("link_invalid",),
        404: ("pdf_not_found",),
        405: ("method_not_allowed",),
        500: ("unexpected", "LABEL_STORAGE_UNAVAILABLE"),
    },
}
PUBLIC: Final = {"openLabelPdf"}
# What a path with an operation of this method takes, as `Allow` lists it.
METHODS: Final = {"get": "GET, HEAD", "post": "POST"}
# After the token was found valid, so that the request is counted for the shop.
COUNTED: Final = {200, 201, 405, 409, 413, 415, 422, 502, 503}
UNCOUNTED: Final = {401, 403}

TITLES: Final = {
    400: "The request is wrong",
    401: "The token is missing or invalid",
    403: "Not allowed",
    404: "Not found",
    405: "Another method",
    409: "The first request with the key is still running",
    413: "The body is too large",
    415: "The body is not JSON",
    422: "The key was used with another body",
    429: "Too many requests",
    500: "A fault of ours",
    502: "The carrier's failure",
    503: "Too busy",
}
HEADERS: Final[dict[str, Json]] = {
    "XRequestId": {
        "description": "The request's identifier. Quote it when you report a failure.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$", "examples": ["83c3adbe65a9088311bb78c8cb4ca226"]},
    },
    "CacheControl": {
        "description": "Every answer is a customer's data: it must not be stored.",
        "required": True,
        "schema": {"type": "string", "enum": ["no-store", "private, no-store"]},
    },
    "RateLimitPolicy": {
        "description": "The shop's limit: `q` requests in `w` seconds.",
        "required": True,
        "schema": {"type": "string", "pattern": '^"shop";q=[0-9]+;w=[0-9]+$', "examples": ['"shop";q=100;w=60']},
    },
    "RateLimit": {
        "description": "`r` requests are left of this window; a new one begins in `t` seconds at the latest.",
        "required": True,
        "schema": {"type": "string", "pattern": '^"shop";r=[0-9]+;t=[0-9]+$', "examples": ['"shop";r=99;t=47']},
    },
    "RetryAfter": {
        "description": "Seconds to wait; after a 429, a request after that is not refused for the same reason.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1, "examples": [31]},
    },
    "IdempotentReplayed": {
        "description": "`true` where the label is the one bought before with the same Idempotency-Key; else left out.",
        "schema": {"type": "string", "enum": ["true"]},
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
        "description": "The name that the PDF is saved under.",
        "required": True,
        "schema": {"type": "string", "examples": ['inline; filename="label-0RCRUGWGBZDJINQ.pdf"']},
    },
    "Allow": {
        "description": "The methods that the path takes.",
        "required": True,
        "schema": {"type": "string", "examples": list(METHODS.values())},
    },
}
# On some of an answer's errors only.
RETRY_AFTER_IF_STORED: Final[Json] = {
    "description": "Seconds to wait. Only where the PDF is stored, but can't be read now.",
    "schema": HEADERS["RetryAfter"]["schema"] | {"examples": [2]},
}
# Where a request may have failed before its token was looked at.
IF_COUNTED: Final = {
    f"{name}IfCounted": {
        "description": f"{HEADERS[name]['description']} Only where the request had a valid token.",
        "schema": HEADERS[name]["schema"],
    }
    for name in ("RateLimitPolicy", "RateLimit")
}
ERROR: Final[Json] = {
    "type": "object",
    "description": "Every failure has this body, whatever went wrong.",
    "properties": {
        "message": {
            "type": "string",
            "minLength": 1,
            "description": "What went wrong and what to do, for a person. Do not parse it.",
            "examples": [PLAIN_ERRORS["search_without_filter"].message],
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
            "examples": ["2026-11-21T03:12:30.620Z"],
        },
        "code": {
            "allOf": [{"$ref": "#/components/schemas/ErrorCode"}],
            "description": "Which error it is, for a program. On some errors of the label endpoints and of PDFs' URLs.",
        },
    },
    "required": ["message", "statusCode", "timestamp"],
    "additionalProperties": False,
}
ERROR_CODE: Final[Json] = {
    "type": "string",
    "enum": list(CODES),
    "description": "\n".join(f"* `{entry.code}`: {entry.cause} {entry.remedy}" for entry in CODES.values()),
    "examples": ["ALPHA_ADDRESS_REJECTED"],
}


def add_failures(document: Json) -> None:
    """Complete what drf-spectacular generates: headers on every answer, and all failures."""
    components = document["components"]
    components["headers"] = HEADERS | IF_COUNTED | {"RetryAfterIfStored": RETRY_AFTER_IF_STORED}
    components["schemas"] |= {"Error": ERROR, "ErrorCode": ERROR_CODE}
    for path in document["paths"].values():
        methods = ", ".join(METHODS[method] for method in path)
        for operation in path.values():
            name = operation["operationId"]
            answers = operation["responses"]
            failures = sorted(FAILURES[name].items())
            answers |= {str(status): failure(status, names, name, methods) for status, names in failures}
            for status, answer in answers.items():
                answer["headers"] = headers(name, int(status))


def failure(status: int, names: tuple[str, ...], operation: str, methods: str) -> Json:
    """One status with all its causes and remedies, and a body of each; `methods` are those that the path takes."""
    causes = "\n".join(f"* {cause_and_remedy(name)}" for name in names)
    bodies = {name: error_body(name, status, operation, methods) for name in names}
    examples = {name: {"summary": cause(name), "value": body} for name, body in bodies.items()}
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": examples}
    return {"description": f"{TITLES[status]}.\n\n{causes}", "content": {"application/json": content}}


def cause(name: str) -> str:
    return PLAIN_ERRORS[name].cause if name in PLAIN_ERRORS else CODES[name].cause


def cause_and_remedy(name: str) -> str:
    if name in PLAIN_ERRORS:
        return f"{PLAIN_ERRORS[name].cause} {PLAIN_ERRORS[name].remedy}"
    return f"`{name}`: {CODES[name].cause} {CODES[name].remedy}"


def headers(operation: str, status: int) -> Json:
    """References to the headers of an answer."""
    names = {"X-Request-Id": "XRequestId", "Cache-Control": "CacheControl"}
    if operation not in PUBLIC and status not in UNCOUNTED:
        suffix = "" if status in COUNTED else "IfCounted"
        names |= {"RateLimit-Policy": f"RateLimitPolicy{suffix}", "RateLimit": f"RateLimit{suffix}"}
    of_status = {
        201: {"Idempotent-Replayed": "IdempotentReplayed"},
        401: {"WWW-Authenticate": "WWWAuthenticate"},
        405: {"Allow": "Allow"},
        409: {"Retry-After": "RetryAfter"},
        429: {"Retry-After": "RetryAfter"},
        503: {"Retry-After": "RetryAfter"},
    }
    names |= of_status.get(status, {})
    if operation == "openLabelPdf":
        names |= {
            200: {"Content-Disposition": "ContentDisposition"},
            500: {"Retry-After": "RetryAfterIfStored"},
        }.get(status, {})
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}
