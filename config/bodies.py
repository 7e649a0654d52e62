"""Request bodies: those of unknown length, which Django takes for empty, and how many may be waited for at a time."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http.response import HttpResponseBase

from config.api import MAX_BODY_BYTES

# One byte more than is ever read, so that a larger body is seen to be too large.
UP_TO = str(MAX_BODY_BYTES + 1)
NONE = frozenset({"", "0"})


class Handler(WSGIHandler):
    """Django's WSGI application for a server that takes chunks apart, as granian does.

    WSGI tells a body's length by ``Content-Length``, and a client that sends chunks knows none. What stands in for it
    is a limit: the body ends where the server's stream does, and it is read where any other body is.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        if "HTTP_TRANSFER_ENCODING" in environ:
            environ["CONTENT_LENGTH"] = UP_TO
        return super().__call__(environ, start_response)


class NoPlaceError(Exception):
    """As many requests with a body as may be are under way in this process."""


class Places:
    """How many requests with a body may be under way in one process; any number where no limit is set.

    Granian waits for a body's bytes without an end, and the thread that reads them waits with it. With fewer places
    than threads there is always a thread for requests without a body, however many bodies stall.
    """

    def __init__(self) -> None:
        self._free: threading.BoundedSemaphore | None = None

    def limit(self, *, threads: int) -> None:
        """Leave one of so many threads to requests without a body; a thread that is alone serves both."""
        self._free = threading.BoundedSemaphore(max(1, threads - 1))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a place while the block runs; raise NoPlaceError at once if none is free."""
        if self._free is None:
            yield
            return
        if not self._free.acquire(blocking=False):
            raise NoPlaceError
        try:
            yield
        finally:
            self._free.release()


def has_body(environ: Mapping[str, Any]) -> bool:
    """Tell whether a request announces a body; what is no number counts, and costs a place it does not need."""
    return environ.get("CONTENT_LENGTH", "") not in NONE


places = Places()
