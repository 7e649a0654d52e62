"""Model fields for identifiers and keys."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    Text = models.CharField[str, str]
    NullableText = models.CharField[str | None, str | None]
else:
    Text = NullableText = models.CharField


class ByCodePoint:
    """Compares and orders text by its code points, on every database alike.

    PostgreSQL would otherwise order by the language the database was made with, which differs between
    installations and makes every index depend on the operating system's locale data.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        parameters: dict[str, Any] = super().db_parameters(connection)  # type: ignore[misc]  # of the field it is mixed into
        return parameters | {"collation": "C" if connection.vendor == "postgresql" else None}


class KeyField(ByCodePoint, Text):
    """Text that is looked up and ordered by."""


class NullableKeyField(ByCodePoint, NullableText):
    """The same, which may be null."""
