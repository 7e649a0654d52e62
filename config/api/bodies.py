"""Request bodies: their largest size, how many a process reads at a time, and bodies in chunks."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from labels.lifecycle.bulkhead import bulkhead
from shops.errors.exceptions import ApiError
from shops.errors.plain import BODY_CUT_SHORT, BODY_TOO_LARGE, TOO_BUSY

MAX_JSON_BYTES = 64 * 1024  # the largest valid order is below 16 KiB
MAX_FORM_BYTES = 1024 * 1024  # of the admin, without uploads
# A larger body is read to its end up to here: a client that is still sending may miss the answer otherwise.
MAX_DRAINED_BYTES = 8 * 1024 * 1024
DRAINED_AT_ONCE_BYTES = 64 * 1024
SPARE_THREADS = 2  # of a process, kept free of waiting for clients and carriers
PUBLIC_FORMS_AT_ONCE = 2  # of those, what nobody who is known has sent


class BodyTooLargeError(ApiError):
    """A body above the limit."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(BODY_TOO_LARGE, limit_bytes=limit_bytes, limit_kib=limit_bytes // 1024)


class BodyCutShortError(ApiError):
    """A body that ended before its announced length: the client went away."""

    def __init__(self) -> None:
        super().__init__(BODY_CUT_SHORT)


class TooBusyError(ApiError):
    """No thread is left to wait for a body."""

    def __init__(self) -> None:
        super().__init__(TOO_BUSY)


class Handler(WSGIHandler):
    """Django's WSGI application, for bodies in chunks too.

    Granian decodes the chunks, but WSGI tells a body's length by ``Content-Length``, which such a request lacks. Django
    reads up to one byte above the larger limit instead, enough to see that a body is too large.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        if "HTTP_TRANSFER_ENCODING" in environ:
            environ["CONTENT_LENGTH"] = str(MAX_FORM_BYTES + 1)
        return super().__call__(environ, start_response)


class BodyReadLimit:
    """Caps the bodies that a process reads at the same time; there is no cap before `limit` is called.

    Granian waits for a body's bytes without a timeout, and the thread that reads them waits with it. The cap leaves
    threads for other requests, however many bodies stall and label requests hang at a carrier.
    """

    def __init__(self) -> None:
        self._threads: int | None = None
        self._taken = 0
        self._public_forms = threading.BoundedSemaphore(PUBLIC_FORMS_AT_ONCE)
        self._lock = threading.Lock()

    def limit(self, *, threads: int) -> None:
        """Keep SPARE_THREADS of a process's `threads` free; with fewer threads than that, one reads bodies."""
        self._threads = threads

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Take a place while the block reads; raise TooBusyError at once if none is free."""
        with self._lock:
            if self._threads is not None and self._taken >= max(1, self._threads - SPARE_THREADS - bulkhead.taken):
                raise TooBusyError
            self._taken += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken -= 1

    @contextmanager
    def hold_public(self) -> Iterator[None]:
        """Take one of the few places for forms that anyone may send, so that they leave places for orders."""
        if not self._public_forms.acquire(blocking=False):
            raise TooBusyError
        try:
            with self.hold():
                yield
        finally:
            self._public_forms.release()


body_reads = BodyReadLimit()


def announced_length(environ: Mapping[str, Any]) -> int:
    """Return the length that a request says its body has; 0 where it says none."""
    return 0 if "HTTP_TRANSFER_ENCODING" in environ else int(environ.get("CONTENT_LENGTH") or 0)


def receive_json(environ: Mapping[str, Any], read: Callable[[int], bytes]) -> bytes:
    """Read an API request's body; raise TooBusyError, BodyCutShortError or BodyTooLargeError."""
    if announced_length(environ) > MAX_DRAINED_BYTES:
        raise BodyTooLargeError(MAX_JSON_BYTES)
    with body_reads.hold():
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
        raise BodyTooLargeError(limit_bytes)
    with body_reads.hold_public() if is_public else body_reads.hold():
        body = request.body
    checked(body, request.META, limit_bytes)


def checked(body: bytes, environ: Mapping[str, Any], limit_bytes: int) -> bytes:
    if len(body) > limit_bytes:
        raise BodyTooLargeError(limit_bytes)
    if len(body) < announced_length(environ):
        raise BodyCutShortError
    return body


def is_unread(request: HttpRequest) -> bool:
    """Tell whether a request has a body that nobody read: the connection can't be used again."""
    # Django's own mark, which DRF asks for too.
    return request.META.get("CONTENT_LENGTH", "") not in {"", "0"} and not request._read_started  # type: ignore[attr-defined]
