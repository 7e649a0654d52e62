"""The fast path: a shop's ordinary look-ups and searches are answered before Django, at half of their CPU time.

Only what succeeds is answered here. All else goes on to Django: every error, and requests out of the ordinary in any
way. Both answer the same; the tests of the API send their requests through here too.
"""

import logging
import re
import time
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl

from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpResponse
from django.middleware.security import SecurityMiddleware

from config.api import request_record
from config.api.bodies import Handler
from config.api.middleware import refusal
from config.ops.metrics import FAST_PATH_ANSWERS, FAST_PATH_FAILURES
from parcels import queries
from parcels.views import FILTERS, NOT_FOUND
from shops.api.authentication import is_known, sent_token, valid_token
from shops.api.paths import PARCEL, SEARCH
from shops.api.throttling import USAGE_KEY, Usage, count
from shops.db.replicas import UNREACHABLE

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
Read = Callable[[str], bytes | None]
ORDINARY_NUMBER = re.compile(r"[A-Za-z0-9._~-]+")
ORDINARY_QUERY = re.compile(r"[A-Za-z0-9._~%+&=@-]{1,500}")
# What Django reads to tell if it serves the host, and if the request came over https.
ORIGIN = ("HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "HTTP_X_FORWARDED_PROTO", "wsgi.url_scheme")

logger = logging.getLogger("service.request")


class FastPath(Handler):
    """The WSGI application: the fast path, and Django behind it."""

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Any:
        answer = answer_to(environ)
        if answer is None:
            return super().__call__(environ, start_response)
        headers, body = answer
        start_response("200 OK", headers)
        return [body]


def answer_to(environ: Environ) -> tuple[Headers, bytes] | None:
    """Answer an ordinary request that succeeds; None leaves it to Django, which reads anew."""
    started_at = time.perf_counter()
    route, read = reading(environ)
    headers = read and headers_of(*map(environ.get, ORIGIN))
    if not read or not headers:
        return None
    request_id = request_record.begin()
    environ[request_record.BEGUN] = started_at, request_id
    found = found_or_failed(environ, read, route)
    close_old_connections()  # to the database, as at the end of Django's own requests
    if found is None:
        return None
    FAST_PATH_ANSWERS.labels(route).inc()
    shop_id, usage, body = found
    own = {"Content-Length": str(len(body)), **usage.headers, "X-Request-Id": request_id}
    duration_s = time.perf_counter() - started_at
    request_record.record(route=route, method="GET", status=200, shop_id=shop_id, duration_s=duration_s)
    return [*headers, *own.items()], body


def reading(environ: Environ) -> tuple[str, Read | None]:
    """Return the route of an ordinary request, and what reads the answer to it for a shop."""
    if environ["REQUEST_METHOD"] != "GET" or environ.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" in environ:
        return "", None
    path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
    number = path.removeprefix(PARCEL)
    if number != path and ORDINARY_NUMBER.fullmatch(number):
        return "parcel", lambda shop_id: queries.find(shop_id=shop_id, number=number)
    if path == SEARCH and ORDINARY_QUERY.fullmatch(query):
        fields = dict(parse_qsl(query, keep_blank_values=True))  # of each name the last value, as Django does
        order_number, email = map(fields.get, FILTERS)
        return "parcel-search", lambda shop_id: queries.search(shop_id=shop_id, order_number=order_number, email=email)
    return "", None


@lru_cache(maxsize=100)  # of up to MAX_HEAD_BYTES each
def headers_of(*origin: str | None) -> Headers | None:
    """Return the headers that all answers have; None where Django refuses the host or the lack of https."""
    given = {name: value for name, value in zip(ORIGIN, origin, strict=True) if value is not None}
    request = WSGIRequest({"REQUEST_METHOD": "GET", "PATH_INFO": SEARCH, "wsgi.input": BytesIO(), **given})
    if refusal(request):
        return None
    usual = HttpResponse(content_type="application/json", headers={"Cache-Control": "no-store"})
    return list(SecurityMiddleware(lambda _: usual).process_response(request, usual).items())


def found_or_failed(environ: Environ, read: Read, route: str) -> tuple[str, Usage, bytes] | None:
    """Do as `found_for_shop`; count and log a failure, after which Django tries once more and tells what is wrong."""
    try:
        return found_for_shop(environ, read)
    except UNREACHABLE:  # Django's failure, too
        return None
    except Exception:
        FAST_PATH_FAILURES.labels(route).inc()
        logger.exception("fast path failed", extra={"route": route})
        return None


def found_for_shop(environ: Environ, read: Read) -> tuple[str, Usage, bytes] | None:
    """Count the request and read its answer, for a token that was valid here before: other senders are counted too."""
    secret = sent_token(environ)
    token = valid_token(secret, is_replica_enough=True) if secret and is_known(secret) else None
    if token is None:
        return None
    usage = environ[USAGE_KEY] = count(group="shop", key=token.shop_id)
    if usage.is_exceeded:
        return None
    body = read(token.shop_id)
    environ[NOT_FOUND] = body is None
    return None if body is None else (token.shop_id, usage, body)
