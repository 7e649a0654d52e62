"""Request bodies: their largest size, how many a process reads at a time, and bodies in chunks."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import BODY_CUT_SHORT, BODY_TOO_LARGE, TOO_BUSY
from shops.contracts.bulkhead import bulkhead

MAX_JSON_BYTES = 64 * 1024  # the largest valid order is below 16 KiB
MAX_FORM_BYTES = 1024 * 1024  # of the admin, without uploads
# A larger body is read to its end up to here: a client that is still sending may miss the answer otherwise.
MAX_DRAINED_BYTES = 8 * 1024 * 1024
DRAINED_AT_ONCE_BYTES = 64 * 1024
NOBODY = ""  # a sender who has no share of his own
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
    """No thread is left to wait for a body, or for one of this sender."""

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

    Granian waits for a body's bytes without a timeout, and the thread that reads them waits with it: answered earlier,
    it waits all the same when it lets go of the body. The cap leaves threads for other requests, however many bodies
    stall and label requests hang at a carrier, and half of the places for other senders.
    """

    def __init__(self) -> None:
        self._places: int | None = None
        self._taken: Counter[str] = Counter()
        self._public_forms = threading.BoundedSemaphore(PUBLIC_FORMS_AT_ONCE)
        self._lock = threading.Lock()

    def limit(self, *, threads: int) -> None:
        """Keep SPARE_THREADS of a process's `threads` free; with fewer threads than that, one reads bodies."""
        self._places = max(1, threads - SPARE_THREADS)

    @contextmanager
    def hold(self, sender: str = NOBODY) -> Iterator[None]:
        """Take a place while the block reads; raise TooBusyError at once if none is free, or none for the sender."""
        with self._lock:
            if self._places is not None and not self._has_place(sender, self._places):
                raise TooBusyError
            self._taken[sender] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken -= Counter([sender])  # without those that have none left

    def _has_place(self, sender: str, places: int) -> bool:
        has_share = sender == NOBODY or self._taken[sender] < max(1, places // 2)
        return has_share and self._taken.total() < max(1, places - bulkhead.taken)

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


def receive_json(environ: Mapping[str, Any], read: Callable[[int], bytes], *, sender: str) -> bytes:
    """Read an API request's body; raise TooBusyError, BodyCutShortError or BodyTooLargeError."""
    if announced_length(environ) > MAX_DRAINED_BYTES:
        raise BodyTooLargeError(MAX_JSON_BYTES)
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
