"""The id of the request that is answered now, as its answer's X-Request-Id has it."""

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


def current_request_id() -> str:
    """Return the id, and nothing outside a request."""
    return request_id.get() or ""
