"""Request bodies: their encoding, their largest size, how many a process reads at a time, and bodies in chunks."""

import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.login.devices import device_of
from shops.api.concurrency import ConcurrencyLimit
from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import BODY_CUT_SHORT, BODY_TOO_LARGE, TOO_BUSY
from shops.contracts.bulkhead import bulkhead

MAX_JSON_BYTES = 64 * 1024  # the largest valid order is below 16 KiB
MAX_FORM_BYTES = 1024 * 1024  # of the admin, without uploads
# A larger body is read to its end up to here: a client that is still sending may miss the answer otherwise.
MAX_DRAINED_BYTES = 8 * 1024 * 1024
DRAINED_AT_ONCE_BYTES = 64 * 1024
SPARE_THREADS = 2  # of a process, kept free of waiting for clients and carriers


def too_large(limit_bytes: int) -> ApiError:
    return ApiError(BODY_TOO_LARGE, limit_bytes=limit_bytes, limit_kib=limit_bytes // 1024)


too_busy = partial(ApiError, TOO_BUSY)  # no thread is left to wait for a body, or for one of this sender


class Utf8Request(WSGIRequest):
    """A request in UTF-8, whatever charset its Content-Type names.

    Django reads the query, too, in that charset, which may be none of text (``hex``), and it does so before any
    middleware, where a failure has no answer of ours.
    """

    @property
    def encoding(self) -> str | None:
        return None  # the default

    @encoding.setter
    def encoding(self, charset: str) -> None:
        """Leave it as it is."""


class Handler(WSGIHandler):
    """Django's WSGI application, in UTF-8, and for bodies in chunks too.

    Granian decodes the chunks, but WSGI tells a body's length by ``Content-Length``, which such a request lacks. Django
    reads up to one byte above the larger limit instead, enough to see that a body is too large.
    """

    request_class = Utf8Request

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        if "HTTP_TRANSFER_ENCODING" in environ:
            environ["CONTENT_LENGTH"] = str(MAX_FORM_BYTES + 1)
        return super().__call__(environ, start_response)


class BodyReadLimit(ConcurrencyLimit):
    """Caps the bodies that a process reads, and the large files that it sends, at the same time.

    There is no cap before `limit` is called.

    Granian waits for a body's bytes without a timeout, and the thread that reads them waits with it: answered earlier,
    it waits all the same when it lets go of the body. The cap leaves threads for other requests, however many bodies
    stall and label requests hang at a carrier, and half of the places for other senders.
    """

    def __init__(self) -> None:
        super().__init__(0, too_busy)
        self.limit(threads=sys.maxsize)

    def limit(self, *, threads: int) -> None:
        """Keep SPARE_THREADS of a process's `threads` free; with fewer threads than that, one reads bodies."""
        self.places = max(1, threads - SPARE_THREADS)
        self.share = max(1, self.places // 2)

    def has_place(self, sender: Hashable) -> bool:
        has_share = sender is None or super().has_place(sender)
        return has_share and self.taken.total() < max(1, self.places - bulkhead.taken)


body_reads = BodyReadLimit()
public_form_reads = ConcurrencyLimit(2, too_busy)  # strangers' forms leave places for known devices' and for orders


def announced_length(environ: Mapping[str, Any]) -> int:
    """Return the length that a request says its body has; 0 where it says none."""
    return 0 if "HTTP_TRANSFER_ENCODING" in environ else int(environ.get("CONTENT_LENGTH") or 0)


def receive_json(environ: Mapping[str, Any], read: Callable[[int], bytes], *, sender: str) -> bytes:
    """Read an API request's body; raise ApiError if it is too large or cut short, or no thread is left for it."""
    if announced_length(environ) > MAX_DRAINED_BYTES:
        raise too_large(MAX_JSON_BYTES)
    with body_reads.hold(sender):
        body = read(MAX_JSON_BYTES + 1)
        if len(body) > MAX_JSON_BYTES:
            drain(read)
    return checked(body, environ, MAX_JSON_BYTES)


def drain(read: Callable[[int], bytes]) -> None:
    for _ in range(MAX_DRAINED_BYTES // DRAINED_AT_ONCE_BYTES):
        if not read(DRAINED_AT_ONCE_BYTES):
            return


def receive_form(request: HttpRequest, *, limit_bytes: int, is_public: bool = False) -> None:
    """Read a form's body into the request; raise as `receive_json` does."""
    if announced_length(request.META) > limit_bytes:
        raise too_large(limit_bytes)
    place = public_form_reads.hold(bool(device_of(request))) if is_public else nullcontext()
    with place, body_reads.hold():
        body = request.body
    checked(body, request.META, limit_bytes)


def checked(body: bytes, environ: Mapping[str, Any], limit_bytes: int) -> bytes:
    if len(body) > limit_bytes:
        raise too_large(limit_bytes)
    if len(body) < announced_length(environ):
        raise ApiError(BODY_CUT_SHORT)  # the client went away
    return body


def is_unread(request: HttpRequest) -> bool:
    """Return whether a request has a body that nobody read: the connection can't be used again."""
    has_body = request.META.get("CONTENT_LENGTH", "") not in {"", "0"}
    return has_body and not request._read_started  # type: ignore[attr-defined]  # noqa: SLF001 - DRF asks for it too
