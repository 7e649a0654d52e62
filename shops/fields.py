"""Model fields for identifiers and keys."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    TextField = models.CharField[str, str]
else:
    TextField = models.CharField


class KeyField(TextField):
    """Text that is looked up and ordered by its code points, on every database alike.

    PostgreSQL would otherwise order by the language the database was made with, which differs between
    installations and makes every index depend on the operating system's locale data.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        collation = "C" if connection.vendor == "postgresql" else None
        return {**super().db_parameters(connection), "collation": collation}
