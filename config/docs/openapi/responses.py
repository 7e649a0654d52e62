"""Completes the answers of every operation: failures, headers and links."""

from typing import Any, Final

from config.api.errors import error_body
from config.docs.openapi.components import ERROR_TIME, HEADERS, METHODS, SCHEMAS
from labels import openapi as labels
from labels import openapi_listing as listing
from labels.checks import openapi as checks
from labels.points import openapi as points
from parcels import openapi as parcels
from shops.api.errors.entries import ErrorEntry, Failures
from shops.api.errors.plain import LIMIT_EXCEEDED, METHOD_NOT_ALLOWED, UNEXPECTED
from shops.webhooks import openapi as webhooks

Json = dict[str, Any]
_SHOPS: Final = listing.FAILURES | points.FAILURES | checks.FAILURES | webhooks.FAILURES
FAILURES: Final = parcels.FAILURES | labels.FAILURES | _SHOPS
LINKS: Final = parcels.LINKS | labels.LINKS
PUBLIC: Final = {"openLabelPdf"}
# Statuses sent after the token was found valid: the request was counted for the shop.
COUNTED: Final = {200, 201, 202, 204, 405, 409, 410, 413, 415, 422, 502}
UNCOUNTED: Final = {401, 403}
# Operations whose answers name what was ignored of a body that was read.
NAMING_IGNORED: Final = {"buyLabel", "checkOrder", "createWebhook", "changeWebhook", "replayWebhook"}
# Answers to an order whose body was read, in part at least.
ORDERED: Final = {200, 201, 202, 400, 409, 422, 500, 502}

TITLES: Final = {
    400: "The request is wrong",
    401: "The token is missing or invalid",
    403: "Not allowed",
    404: "Not found",
    405: "Another method",
    409: "Not in the state that it is in",
    410: "Gone",
    413: "The body is too large",
    415: "The body is not JSON",
    422: "The key was used with another body",
    429: "Too many requests",
    500: "A fault of ours",
    502: "The carrier's failure",
    503: "Not now",
}


def complete(document: Json) -> None:
    """Add every failure, and the headers and links of every answer, to the generated document."""
    document["components"]["headers"] = HEADERS
    document["components"]["schemas"] |= SCHEMAS | points.SCHEMAS | checks.SCHEMAS
    # Django REST framework has the methods of a path in no order.
    paths = document["paths"].items()
    document["paths"] = {name: {each: path[each] for each in METHODS if each in path} for name, path in paths}
    for path in document["paths"].values():
        methods = ", ".join(METHODS[method] for method in path)
        for operation in path.values():
            complete_operation(operation, methods)


def complete_operation(operation: Json, methods: str) -> None:
    """Complete one operation; `methods` are those that its path takes."""
    name, answers = operation["operationId"], operation["responses"]
    if name in LINKS:
        (success,) = answers.values()
        success["links"] = LINKS[name]
    if "requestBody" in operation:
        operation["requestBody"]["required"] = True  # drf-spectacular takes a PATCH without one for valid
    for status, entries in sorted(failures(name).items()):
        answers[str(status)] = failure(status, entries, methods)
    for status, answer in answers.items():
        answer["headers"] = headers(name, int(status))


def failures(operation: str) -> Failures:
    """Return an operation's own failures and those of every endpoint."""
    own = FAILURES[operation]
    limit: Failures = {} if operation in PUBLIC else {429: (LIMIT_EXCEEDED,)}
    return own | limit | {405: (METHOD_NOT_ALLOWED,), 500: (UNEXPECTED, *own.get(500, ()))}


def failure(status: int, entries: tuple[ErrorEntry, ...], methods: str) -> Json:
    """Describe one status with all its causes and remedies, and a body of each."""
    causes = "\n".join(f"* {entry.explanation}" for entry in entries)
    examples = {
        entry.name: {"summary": entry.cause, "value": example_body(entry, status, methods)} for entry in entries
    }
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": examples}
    return {"description": f"{TITLES[status]}.\n\n{causes}", "content": {"application/json": content}}


def example_body(entry: ErrorEntry, status: int, methods: str) -> Json:
    return error_body(status, entry.example_message(methods=methods), entry.code) | {"timestamp": ERROR_TIME}


def headers(operation: str, status: int) -> Json:
    """Refer to the headers of an answer."""
    names = {"X-Request-Id": "XRequestId", "Cache-Control": "CacheControl"}
    if operation not in PUBLIC and status not in UNCOUNTED:
        suffix = "" if status in COUNTED else "IfCounted"
        names |= {"RateLimit-Policy": f"RateLimitPolicy{suffix}", "RateLimit": f"RateLimit{suffix}"}
    of_status = {
        401: {"WWW-Authenticate": "WWWAuthenticate"},
        405: {"Allow": "Allow"},
        429: {"Retry-After": "RetryAfter"},
        502: {"Retry-After": "RetryAfterIfRepeatable"},
        503: {"Retry-After": "RetryAfter"},
    }
    names |= of_status.get(status, {})
    if operation in NAMING_IGNORED and status in ORDERED:
        names |= {"Ignored-Fields": "IgnoredFields"}
    of_operation: dict[str, dict[int, dict[str, str]]] = {
        "buyLabel": {
            201: {
                "Location": "Location",
                "Label-Warnings": "LabelWarnings",
                "Idempotent-Replayed": "IdempotentReplayed",
            },
            409: {"Retry-After": "RetryAfterIfRepeatable"},
            502: {"Label-Id": "LabelId"},
        },
        "createWebhook": {201: {"Location": "Location"}},
        "retrieveLabel": {200: {"Label-Warnings": "LabelWarnings"}},
        "openLabelPdf": {
            200: {"Content-Disposition": "ContentDisposition"},
            500: {"Retry-After": "RetryAfterIfStored"},
        },
    }
    names |= of_operation.get(operation, {}).get(status, {})
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}
