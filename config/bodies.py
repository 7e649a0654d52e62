"""Request bodies of unknown length, which Django takes for empty."""

from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http.response import HttpResponseBase

from config.api import MAX_BODY_BYTES

# One byte more than is ever read, so that a larger body is seen to be too large.
UP_TO = str(MAX_BODY_BYTES + 1)


class Handler(WSGIHandler):
    """Django's WSGI application for a server that takes chunks apart, as granian does.

    WSGI tells a body's length by ``Content-Length``, and a client that sends chunks knows none. What stands in for it
    is a limit: the body ends where the server's stream does, and it is read where any other body is.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        if "HTTP_TRANSFER_ENCODING" in environ:
            environ["CONTENT_LENGTH"] = UP_TO
        return super().__call__(environ, start_response)
