"""Request bodies: how large one may be, how many may be waited for at a time, and those of unknown length."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http.response import HttpResponseBase

from labels.bulkhead import bulkhead
from shops.errors.exceptions import ApiError
from shops.errors.plain import BODY_CUT_SHORT, BODY_TOO_LARGE, TOO_BUSY

MAX_BODY_BYTES = 1024 * 1024
# One byte more than is ever read, so that a larger body is seen to be too large.
UP_TO = str(MAX_BODY_BYTES + 1)
# Of a body that is too large so much is read all the same, that the client may come to the answer.
MAX_SKIPPED_BYTES = 8 * MAX_BODY_BYTES
SKIPPED_AT_ONCE = 64 * 1024
IS_READ = "service.is_body_read"  # among the request's variables
# Threads of a process in which nothing waits for a client or a carrier.
SPARE_THREADS = 2


class BodyTooLargeError(ApiError):
    """A body above the limit."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(BODY_TOO_LARGE, limit_bytes=limit_bytes, limit_mib=limit_bytes // 1024**2)


class BodyCutShortError(ApiError):
    """A client that went away, or fell silent for good, in the middle of its body."""

    def __init__(self) -> None:
        super().__init__(BODY_CUT_SHORT)


class TooBusyError(ApiError):
    """There is no thread left to wait for a body."""

    def __init__(self) -> None:
        super().__init__(TOO_BUSY)


class Handler(WSGIHandler):
    """Django's WSGI application for a server that takes chunks apart, as granian does.

    WSGI tells a body's length by ``Content-Length``, and a client that sends chunks knows none. What stands in for it
    is a limit: the body ends where the server's stream does, and it is read where any other body is.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        if "HTTP_TRANSFER_ENCODING" in environ:
            environ["CONTENT_LENGTH"] = UP_TO
        return super().__call__(environ, start_response)


class BodyReadLimit:
    """How many bodies may be waited for at a time in one process; any number where no limit is set.

    Granian waits for a body's bytes without an end, and the thread that reads them waits with it. Together with the
    label requests that may hang at a carrier, such threads are always fewer than there are, however many bodies stall.
    """

    def __init__(self) -> None:
        self._threads: int | None = None
        self._taken = 0
        self._lock = threading.Lock()

    def limit(self, *, threads: int) -> None:
        """Leave SPARE_THREADS of so many to other requests; where there are no more, one of them reads bodies."""
        self._threads = threads

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a place while the block reads; raise TooBusyError at once if none is free."""
        with self._lock:
            if self._threads is not None and self._taken >= max(1, self._threads - SPARE_THREADS - bulkhead.taken):
                raise TooBusyError
            self._taken += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken -= 1


body_reads = BodyReadLimit()


def announced_length(environ: Mapping[str, Any]) -> int:
    """How long a request says that its body is; 0 where it does not."""
    announced = environ.get("CONTENT_LENGTH", "")
    return int(announced) if announced.isdecimal() and "HTTP_TRANSFER_ENCODING" not in environ else 0


def receive(
    environ: dict[str, Any],
    read: Callable[[], bytes],
    skip: Callable[[int], bytes] | None = None,
    *,
    limit_bytes: int = MAX_BODY_BYTES,
) -> bytes:
    """Wait for a request's body.

    Raise TooBusyError, BodyCutShortError or BodyTooLargeError, the last before it is read if its length says so: unless
    the client has begun to send it and `skip` reads the rest, for who is still sending may miss the answer.
    """
    length = announced_length(environ)
    is_waiting = "100-continue" in environ.get("HTTP_EXPECT", "").lower()
    if length > (MAX_SKIPPED_BYTES if skip and not is_waiting else limit_bytes):
        raise BodyTooLargeError(limit_bytes)
    with body_reads.hold():
        body = read()
        if skip and len(body) > limit_bytes:
            drain(skip)
    environ[IS_READ] = True
    if len(body) > limit_bytes:
        raise BodyTooLargeError(limit_bytes)
    if len(body) < length:
        raise BodyCutShortError
    return body


def drain(skip: Callable[[int], bytes]) -> None:
    for _ in range(MAX_SKIPPED_BYTES // SKIPPED_AT_ONCE):
        if not skip(SKIPPED_AT_ONCE):
            return


def is_unread(environ: Mapping[str, Any]) -> bool:
    """Tell whether a request has a body that nobody waited for: the server then closes the connection."""
    return environ.get("CONTENT_LENGTH", "") not in {"", "0"} and IS_READ not in environ
