"""The body of a request, which has to be there."""

from typing import Any

from rest_framework.request import Request

from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import BODY_EMPTY


def sent_body(request: Request) -> Any:
    """Return the parsed body; raise ApiError where none was sent, which to DRF is an empty form."""
    if request.stream is None:
        raise ApiError(BODY_EMPTY)
    return request.data
