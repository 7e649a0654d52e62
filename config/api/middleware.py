"""What every request passes: its identifier, the API's headers, its log line; and what only pages need."""

import logging
import random
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest, DisallowedHost
from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

from config.api import bodies
from config.api.errors import error_response, plain_response
from config.ops import logs, metrics
from shops.errors.plain import HOST_UNKNOWN
from shops.paths import PREFIXES

GetResponse = Callable[[HttpRequest], HttpResponse]
logger = logging.getLogger("service.request")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
ADMIN = "/admin/"
NO_PAGES = (*PREFIXES, *settings.HEALTH_PATHS)


class RequestMiddleware:
    """Gives a request its ``X-Request-Id`` and its line in the log, and an answer of the API its headers."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started_at = time.perf_counter()
        request_id = f"{random.getrandbits(128):032x}"
        logs.request_id.set(request_id)
        is_api = request.path_info.startswith(PREFIXES)
        response = self.api_response(request) if is_api else self.get_response(request)
        response.headers["X-Request-Id"] = request_id
        if bodies.is_unread(request.META):
            response.headers["Connection"] = "close"
        record(request, response, time.perf_counter() - started_at)
        return response

    def api_response(self, request: HttpRequest) -> HttpResponse:
        try:
            request.get_host()
        except DisallowedHost:
            response: HttpResponse = error_response(HOST_UNKNOWN)
        else:
            response = self.get_response(request)
        headers = response.headers
        headers.setdefault("Cache-Control", "no-store")
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            headers.pop("Allow", None)  # DRF puts it on every answer
        headers["Content-Length"] = str(len(response.content))
        for name, value in getattr(request, "rate_limit_headers", {}).items():
            headers[name] = value
        return response


def record(request: HttpRequest, response: HttpResponse, duration_s: float) -> None:
    """One line a request, and its figures. Nothing that the client wrote is in them.

    The route stands for the path, which holds a tracking number; a method may be any word; the query is left out.
    """
    match, status = request.resolver_match, response.status_code
    route = match.view_name if match else None
    method = request.method if request.method in METHODS else "other"
    metrics.observe_request(route or "none", method, status, duration_s)
    if status == HTTPStatus.OK and request.path_info in settings.HEALTH_PATHS:
        return  # probes that find nothing would be most of a quiet log
    extra = {
        "method": method,
        "route": route,
        "status": status,
        "duration_ms": round(duration_s * 1000, 2),
        "shop": getattr(request, "shop_id", None),
    }
    logger.info("request", extra=extra)


class PagesOnly:
    """Lets a request for the API pass by: it has no session, no form, no page, and is asked for all day."""

    if TYPE_CHECKING:
        get_response: Any  # of the Django middleware it is mixed into

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(NO_PAGES):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]  # as above


class StaticFiles(PagesOnly, WhiteNoiseMiddleware):  # type: ignore[misc]  # it has no types
    """WhiteNoise, for pages."""


class Sessions(PagesOnly, SessionMiddleware):
    """Django's sessions, for pages."""


class Common(PagesOnly, CommonMiddleware):
    """Django's common middleware, for pages."""


class Csrf(PagesOnly, CsrfViewMiddleware):
    """Django's CSRF protection, for pages; the API takes its token from a header that no form can set."""

    def process_view(self, request: HttpRequest, *args: Any) -> Any:
        return None if request.path_info.startswith(NO_PAGES) else super().process_view(request, *args)


class Authentication(PagesOnly, AuthenticationMiddleware):
    """Django's log-in, for pages."""


class Messages(PagesOnly, MessageMiddleware):
    """Django's messages, for pages."""


class XFrameOptions(PagesOnly, XFrameOptionsMiddleware):
    """Django's protection against framing, for pages."""


class Forms:
    """Passes a page's request on once its form is there: Django reads it at many places, none of which may wait."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST" and not request.path_info.startswith(NO_PAGES):
            try:
                bodies.receive(request.META, lambda: request.body, limit_bytes=form_limit_bytes(request))
            except (bodies.BodyTooLargeError, bodies.BodyCutShortError, bodies.TooBusyError) as error:
                return plain_response(error)
        return self.get_response(request)


def form_limit_bytes(request: HttpRequest) -> int:
    """How large a form may be: staff, and nobody else, upload PDFs. Who it is, is asked where it matters alone."""
    is_large = bodies.announced_length(request.META) > bodies.MAX_BODY_BYTES
    if is_large and request.user.is_staff:
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return bodies.MAX_BODY_BYTES


class NoNul:
    """Answers 400 to a NUL in anything that staff send: PostgreSQL fails on a text that has one, SQLite does not."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(ADMIN):
            # A cookie, too, may hold any character in its escaped form.
            refuse_nul(request.path_info, *request.COOKIES.values(), *words(request.GET))
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *args: Any) -> None:
        if request.path_info.startswith(ADMIN):
            refuse_nul(*words(request.POST))


def refuse_nul(*texts: str) -> None:
    if any("\0" in text for text in texts):
        raise BadRequest("A NUL character is no part of any text here.")


def words(fields: QueryDict) -> list[str]:
    """Give the names and the values of a query or a form."""
    return [text for name, values in fields.lists() for text in (name, *values)]
