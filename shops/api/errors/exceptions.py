"""The exceptions that carry an entry of the table to the client."""

from typing import Any

from rest_framework.exceptions import APIException, AuthenticationFailed

from carriers.errors import CarrierError
from shops.api.errors.coded import entry_for
from shops.api.errors.entries import ErrorEntry


class ApiError(APIException):
    """An error of the table, its message filled with `facts`; `wait` becomes ``Retry-After``."""

    def __init__(self, entry: ErrorEntry, *, wait: int | None = None, **facts: Any) -> None:
        super().__init__(entry.message.format(**facts))
        self.public_code = entry.code
        self.status_code = entry.statuses[0]
        wait = wait or entry.retry_after_s
        self.headers = {"Retry-After": str(wait)} if wait else {}


class UnauthenticatedError(ApiError, AuthenticationFailed):
    """No valid token: 401 with a challenge, or 403 where the view's authentication has none."""


class CarrierFailedError(ApiError):
    """A carrier's error, with what the shop can do about it."""

    def __init__(self, error: CarrierError, *, has_key: bool = True, wait: int | None = None) -> None:
        super().__init__(entry_for(error, has_key=has_key), wait=wait, failure=str(error).rstrip("."))
