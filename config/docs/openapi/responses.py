"""Completes the answers of an operation: its errors from the table, those of every endpoint, and the headers."""

from typing import Any, Final

from config.api.errors import error_body
from shops.api.errors.coded import CODES, PDF_UNREADABLE
from shops.api.errors.exceptions import ErrorEntry, Failures
from shops.api.errors.plain import PLAIN_ERRORS

Json = dict[str, Any]
ENTRIES: Final = PLAIN_ERRORS | CODES | {"PDF_UNREADABLE": PDF_UNREADABLE}
ERROR_TIME: Final = "2026-11-21T03:12:30.620Z"
# Statuses sent after the token was found valid: the request was counted for the shop.
COUNTED: Final = {200, 201, 202, 204, 405, 409, 410, 413, 415, 422, 502}
UNCOUNTED: Final = {401, 403}
# Answers that name what was ignored of a body, which was read, in part at least.
NAMING_IGNORED: Final = {200, 201, 202, 400, 409, 422, 500, 502, 503}
OF_STATUS: Final[dict[int, dict[str, str]]] = {
    401: {"WWW-Authenticate": "WWWAuthenticate"},
    405: {"Allow": "Allow"},
    429: {"Retry-After": "RetryAfter"},
    502: {"Retry-After": "RetryAfterIfRepeatable"},
    503: {"Retry-After": "RetryAfter"},
}
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


def is_public(operation: Json) -> bool:
    return operation.get("security") == [{}]


def answers(operation: Json, methods: str) -> Json:
    """Return all answers; those of `operation` may say headers of their own."""
    own = operation["responses"]
    described = {str(status): failure(status, entries, methods) for status, entries in failures(operation).items()}
    return {
        status: described.get(status, {})
        | own.get(status, {})
        | {"headers": headers(operation, int(status)) | own.get(status, {}).get("headers", {})}
        for status in own | described
    }


def failures(operation: Json) -> Failures:
    """Return an operation's own failures and those of every endpoint."""
    names = {405: ["method_not_allowed"]} | operation["errors"]
    names[500] = ["unexpected", *names.get(500, ())]
    if not is_public(operation):
        names[429] = ["limit_exceeded"]
    return {status: tuple(ENTRIES[name] for name in names[status]) for status in sorted(names)}


def failure(status: int, entries: tuple[ErrorEntry, ...], methods: str) -> Json:
    """Describe one status with all its causes and remedies, and a body of each."""
    causes = "\n".join(f"* {entry.explanation}" for entry in entries)
    examples = {}
    for entry in entries:
        body = error_body(status, entry.example_message(methods=methods), entry.code) | {"timestamp": ERROR_TIME}
        examples[entry.name] = {"summary": entry.cause, "value": body}
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": examples}
    return {"description": f"{TITLES[status]}.\n\n{causes}", "content": {"application/json": content}}


def headers(operation: Json, status: int) -> Json:
    """Refer to the headers that are common to answers."""
    names = {"X-Request-Id": "XRequestId", "Cache-Control": "CacheControl"}
    if not is_public(operation) and status not in UNCOUNTED:
        suffix = "" if status in COUNTED else "IfCounted"
        names |= {"RateLimit-Policy": f"RateLimitPolicy{suffix}", "RateLimit": f"RateLimit{suffix}"}
    names |= OF_STATUS.get(status, {})
    if "requestBody" in operation and status in NAMING_IGNORED:
        names |= {"Ignored-Fields": "IgnoredFields"}
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}
