"""The API's one error shape: ``message``, ``statusCode``, ``timestamp`` and, on some errors, ``code``."""

import logging
import sys
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from shops.paths import PREFIXES
from shops.serializer_fields import describe_faults

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it loads the models, and this module is there before them

logger = logging.getLogger("service.errors")

UNKNOWN_PATH = (
    "There is nothing at this path. Paths are case-sensitive and have no slash at the end; see /openapi.json."
)
UNREADABLE = "The request can't be read. Send at most 1000 query parameters, percent-encoded as UTF-8."
TOO_BUSY = "Too many requests with a body are under way. This one was not read: send it again in a second."
UNEXPECTED = "The server failed to answer this request. Quote the X-Request-Id header when you report it."


def error_body(status: int, message: str, code: str | None = None) -> dict[str, Any]:
    """``timestamp`` is ISO 8601 in UTC with milliseconds."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {"message": message, "statusCode": status, "timestamp": now}
    return body | {"code": code} if code else body


def error_response(status: int, message: str) -> HttpResponse:
    """The error shape where no DRF view is at work."""
    body = orjson.dumps(error_body(status, message))
    return HttpResponse(body, status=status, content_type="application/json")


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response:
    """Turn every exception of an API view into the error shape; an unexpected one tells the client nothing."""
    error = as_api_exception(exc)
    code = getattr(error, "public_code", None)
    message = message_of(error, context["view"])
    response = Response(error_body(error.status_code, message, code), status=error.status_code)
    if getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]  # set by DRF's views
    if getattr(error, "wait", None):
        response["Retry-After"] = str(error.wait)  # type: ignore[attr-defined]  # set by DRF's Throttled
    return response


def as_api_exception(exc: Exception) -> exceptions.APIException:
    """Give DRF's exception for any other; an unexpected one is logged."""
    match exc:
        case exceptions.APIException():
            return exc
        case Http404():
            return exceptions.NotFound(str(exc) or UNKNOWN_PATH)
        case PermissionDenied():
            return exceptions.PermissionDenied()
        case SuspiciousOperation():
            return exceptions.ParseError(UNREADABLE)
    logger.error("unhandled exception", exc_info=exc)
    return exceptions.APIException(UNEXPECTED)


def message_of(error: exceptions.APIException, view: "APIView") -> str:
    """One line; a validation error names every field at fault by its JSON path."""
    match error:
        case exceptions.ValidationError():
            return describe_faults(error.detail)
        case exceptions.MethodNotAllowed():
            return f"This path does not take this method, only {', '.join(view.allowed_methods)}."
        case exceptions.UnsupportedMediaType():
            return "The body must be JSON. Send it with the header Content-Type: application/json."
    return str(error.detail)


def log_unhandled(sender: Any, **kwargs: Any) -> None:
    """Log a page's failure as the API logs its own; Django's line for it would show the path."""
    logger.error("unhandled exception", exc_info=sys.exception())


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for a failure outside every view: the error shape for the API, Django's page for pages."""
    if request.path_info.startswith(PREFIXES):
        return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED)
    return defaults.server_error(request)


def plain_response(error: exceptions.APIException) -> HttpResponse:
    """Refuse a page's form in plain words."""
    response = HttpResponse(str(error.detail), status=error.status_code, content_type="text/plain")
    if getattr(error, "wait", None):
        response["Retry-After"] = str(error.wait)  # type: ignore[attr-defined]  # as on DRF's Throttled
    return response


@csrf_exempt
def unknown_path(request: HttpRequest) -> HttpResponse:
    """Answer any method on any path under the API that is no endpoint: 404 for everyone, before the token is read."""
    return error_response(HTTPStatus.NOT_FOUND, UNKNOWN_PATH)
