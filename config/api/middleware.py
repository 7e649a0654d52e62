"""Middleware: request id, API headers and log line for every request; public pages apart from the admin's."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, DisallowedHost
from django.core.handlers.exception import convert_exception_to_response
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, QueryDict
from django.middleware.security import SecurityMiddleware
from django.template.response import SimpleTemplateResponse
from django.urls import resolve, reverse
from django.utils.functional import SimpleLazyObject
from whitenoise.middleware import WhiteNoiseMiddleware

from config.api import bodies, request_record
from config.api.errors import error_response, route
from config.api.policies import ADMIN, ADMIN_POLICY, check_host, is_served
from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import HOST_UNKNOWN, HTTPS_REQUIRED, PATH_UNKNOWN
from shops.api.paths import PREFIXES

GetResponse = Callable[[HttpRequest], HttpResponse]
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
PIECE_BYTES = 256 * 1024  # of a static file: granian takes two before it waits for the client
# Names of views that read a form of anyone.
PUBLIC_FORMS = frozenset(
    "admin:login account_login sign_on account_set_password mfa_authenticate account_logout set_language".split()
)


class RequestMiddleware:
    """Adds the request's id, log line and API headers; the API skips all that follows, 9 % of a look-up's CPU."""

    def __init__(self, get_response: GetResponse) -> None:
        self.page = get_response
        self.view_response: Any = SecurityMiddleware(convert_exception_to_response(call_view))

    def __call__(self, request: HttpRequest) -> HttpResponse:
        begun = request.META.get(request_record.BEGUN)
        started_at, request_id = begun or (time.perf_counter(), request_record.begin())
        response: HttpResponse
        if request.path_info.startswith(PREFIXES):
            response = self.api_response(request)
        elif request.path_info in settings.HEALTH_PATHS:
            response = self.view_response(request)
        else:
            response = self.page(request)
        response.headers["X-Request-Id"] = request_id
        if bodies.is_unread(request):
            response.headers["Connection"] = "close"
        request_record.record(
            route=route(request),
            method=request.method if request.method in METHODS else "other",
            status=response.status_code,
            shop_id=getattr(request, "shop_id", None),
            duration_s=time.perf_counter() - started_at,
        )
        return response

    def api_response(self, request: HttpRequest) -> HttpResponse:
        response: HttpResponse = refusal(request) or self.view_response(request)
        headers = response.headers
        headers.setdefault("Cache-Control", "no-store")
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            headers.pop("Allow", None)  # DRF names the methods in every answer
        if response.status_code != HTTPStatus.NO_CONTENT:
            headers["Content-Length"] = str(len(response.content))
        for name, value in getattr(request, "rate_limit_headers", {}).items():
            headers[name] = value
        return response


def refusal(request: HttpRequest) -> HttpResponse | None:
    """Refuse a wrong host name, and http: a redirect would hide that the token went in clear."""
    try:
        check_host(request)
    except DisallowedHost:
        return error_response(HOST_UNKNOWN)
    if not is_served(request):
        return error_response(PATH_UNKNOWN)
    return error_response(HTTPS_REQUIRED) if settings.HTTPS and not request.is_secure() else None


def call_view(request: HttpRequest) -> HttpResponse:
    """Answer as the view of the path does; raise Resolver404."""
    match = request.resolver_match = resolve(request.path_info)
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return response.render() if isinstance(response, SimpleTemplateResponse) else response


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # it has no types
    """Serves static files in pieces that hold up no thread; a larger one takes a place of a body until it is sent."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse | FileResponse:
        response: FileResponse = WhiteNoiseMiddleware.serve(static_file, request)
        response.block_size = PIECE_BYTES
        if int(response.headers.get("Content-Length", 0)) > 2 * PIECE_BYTES:
            place = ExitStack()
            try:
                place.enter_context(bodies.body_reads.hold("static files"))
            except ApiError as error:
                response.close()
                return plain_response(error)
            # Called when the file is sent, or its client is gone.
            response._resource_closers.append(place.close)  # type: ignore[attr-defined]  # noqa: SLF001
        return response


class Pages:
    """Answers public pages; the middleware after it is the admin's: nothing else has a session or a form.

    A wrong host name is refused, and what is not served under a right one is answered as an unknown path.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.admin = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        check_host(request)
        if not is_served(request):
            raise Http404
        if not request.path_info.startswith(ADMIN):
            return call_view(request)
        response = self.admin(request)
        # Unless a view has its own.
        response.headers.setdefault("Content-Security-Policy", ADMIN_POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class Forms:
    """Reads the admin's forms, once, before Django does; answers 400 to a NUL, on which PostgreSQL would fail."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # A cookie can hold any character in its escaped form; the session's is looked up in the database.
        refuse_nul(request.path_info, *request.COOKIES.values(), *words(request.GET))
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponse | None:
        """Read a form that its view wants; one of a stranger is answered unread, as the admin itself would."""
        if request.method != "POST":
            return None
        is_public = route(request) in PUBLIC_FORMS
        if not is_public and not request.user.is_staff:
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        # Large forms hold PDFs, and are for staff only; the user is looked up only for one.
        is_large = bodies.announced_length(request.META) > bodies.MAX_FORM_BYTES and request.user.is_staff
        limit_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if is_large else bodies.MAX_FORM_BYTES
        try:
            bodies.receive_form(request, limit_bytes=limit_bytes, is_public=is_public)
        except ApiError as error:
            return plain_response(error)
        # A form may come long after its head: whoever sent it may be shut out by now.
        request.session = type(request.session)(request.session.session_key)
        request.user = SimpleLazyObject(partial(get_user, request))  # type: ignore[assignment]  # as Django does
        refuse_nul(*words(request.POST))
        return None


def plain_response(error: ApiError) -> HttpResponse:
    return HttpResponse(str(error.detail), "text/plain", error.status_code, headers=error.headers)


def refuse_nul(*texts: str) -> None:
    if any("\0" in text for text in texts):
        raise BadRequest("Text must not contain a NUL character.")


def words(fields: QueryDict) -> list[str]:
    """Return the names and the values of a query or a form."""
    return [text for name, values in fields.lists() for text in (name, *values)]
