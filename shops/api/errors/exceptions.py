"""An entry of the table of errors, and its exceptions; views raise them, the documents and tests quote them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.exceptions import APIException, AuthenticationFailed

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, eq=False)
class ErrorEntry:
    """An error: `message` is a template, `example` the documents' facts; a name in capitals is the body's `code`."""

    name: str
    statuses: tuple[HTTPStatus, ...]
    message: str
    cause: str = ""
    remedy: str = ""
    example: Mapping[str, Any] = field(default_factory=dict)
    retry_after_s: int | None = None

    @property
    def code(self) -> str | None:
        return self.name if self.name.isupper() else None

    @property
    def explanation(self) -> str:
        """The code, the cause and the remedy, in Markdown."""
        return f"{f'`{self.code}`: ' if self.code else ''}{self.cause} {self.remedy}"

    def example_message(self, **facts: Any) -> str:
        """Fill the message with the facts of the example, or with others."""
        return self.message.format(**{**self.example, **facts})

    def saying(self, message: str, *, retry_after_s: int | None = None) -> "ErrorEntry":
        """Return the same error with another message."""
        return replace(self, message=message, retry_after_s=retry_after_s)


def read_entries(file_name: str) -> dict[str, ErrorEntry]:
    """Read a table of this folder; an entry's first status is used unless Django REST framework gives another."""
    rows = tomllib.loads(Path(__file__).with_name(file_name).read_text("utf-8"))
    return {name: ErrorEntry(name, tuple(map(HTTPStatus, row.pop("statuses"))), **row) for name, row in rows.items()}


class ApiError(APIException):
    """An error of the table, its message filled with `facts`; `wait` becomes ``Retry-After``."""

    def __init__(self, entry: ErrorEntry, *, wait: int | None = None, **facts: Any) -> None:
        super().__init__(entry.message.format(**facts))
        self.public_code = entry.code
        self.status_code = entry.statuses[0]
        wait = wait or entry.retry_after_s
        self.headers = {"Retry-After": str(wait)} if wait else {}


def found(rows: QuerySet[Row], key: str, missing: ErrorEntry) -> Row:
    """Return the row with this key; raise ApiError."""
    row = None if "\0" in key else rows.filter(pk=key).first()
    if row is None:
        raise ApiError(missing)
    return row


class UnauthenticatedError(ApiError, AuthenticationFailed):
    """No valid token: 401 with a challenge, or 403 where the view's authentication has none."""
