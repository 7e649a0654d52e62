"""The API's one error shape: ``message``, ``statusCode``, ``timestamp`` and, on some errors, ``code``."""

import logging
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response

from shops.api.errors import plain
from shops.api.errors.exceptions import ApiError, ErrorEntry
from shops.api.field_faults import describe_faults
from shops.db.failures import is_away, reason

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it loads the models, and this module is imported before them

logger = logging.getLogger("service.errors")


def error_body(status: int, message: str, code: str | None = None) -> dict[str, Any]:
    """Make the error shape; ``timestamp`` is ISO 8601 in UTC with milliseconds."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {"message": message, "statusCode": status, "timestamp": now}
    return body | {"code": code} if code else body


def error_response(entry: ErrorEntry) -> HttpResponse:
    """Answer an error outside every DRF view."""
    status = entry.statuses[0]
    return HttpResponse(orjson.dumps(error_body(status, entry.message)), status=status, content_type="application/json")


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response:
    """Turn every exception of an API view into the error shape; of an unexpected one only the log has details."""
    error: exceptions.APIException
    match exc:
        case exceptions.APIException():
            error = exc
        case SuspiciousOperation():
            error = ApiError(plain.REQUEST_UNREADABLE)
        case _ if is_away(exc) and context["request"].method not in SAFE_METHODS:
            logger.warning("request held up", extra={"route": route(context["request"]), "reason": reason(exc)})
            error = ApiError(plain.HELD_UP)
        case _:
            logger.error("unhandled exception", exc_info=exc, extra={"route": route(context["view"].request)})
            error = ApiError(plain.UNEXPECTED)
    code, headers = (error.public_code, error.headers) if isinstance(error, ApiError) else (None, {})
    body = error_body(error.status_code, message_of(error, context["view"]), code)
    response = Response(body, status=error.status_code, headers=headers)
    if getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]  # set by DRF's views
    return response


def message_of(error: exceptions.APIException, view: "APIView") -> str:
    """Describe an error in one line; a validation error names every field at fault by its JSON path."""
    match error:
        case exceptions.ValidationError():
            return describe_faults(error.detail)
        case exceptions.MethodNotAllowed():
            return plain.METHOD_NOT_ALLOWED.message.format(methods=", ".join(view.allowed_methods))
        case exceptions.UnsupportedMediaType():
            return plain.MEDIA_TYPE_UNSUPPORTED.message
    return str(error.detail)


def log_unhandled(sender: Any, *, request: HttpRequest, **kwargs: Any) -> None:
    """Log a page's failure as the API logs its own; Django's own log line would show the path."""
    logger.error("unhandled exception", exc_info=sys.exception(), extra={"route": route(request)})


def route(request: HttpRequest) -> str | None:
    """Return the name that stands for the path, which holds what a client wrote."""
    return request.resolver_match.view_name if request.resolver_match else None


def unknown_path(request: HttpRequest) -> HttpResponse:
    """Answer 404 to any method on a path under the API that is no endpoint, before the token is read."""
    return error_response(plain.PATH_UNKNOWN)
