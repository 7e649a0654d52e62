"""Model fields: keys in code point order, times by the database's clock, and JSON stored as text."""

import secrets
from datetime import datetime
from typing import Any

import orjson
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression
from django.db.models.lookups import In

from shops.db import clock


class ByCodePoint:
    """Compares and orders text by code points, on every database.

    PostgreSQL would otherwise order by the database's locale, which differs between installations and makes every
    index depend on the operating system's locale data.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        parameters: dict[str, Any] = super().db_parameters(connection)  # type: ignore[misc]  # of the field it is mixed into
        return parameters | {"collation": "C" if connection.vendor == "postgresql" else None}


class KeyField(ByCodePoint, models.CharField[str, str]):
    """Text that rows are found and ordered by."""


class NullableKeyField(ByCodePoint, models.CharField[str | None, str | None]):
    """A nullable `KeyField`."""


def new_id(prefix: str) -> str:
    """Return a new key. A letter follows the underscore: the admin would read ``_23`` in a path as an escape."""
    return f"{prefix}_{secrets.choice('abcdef')}{secrets.token_hex(8)[1:]}"


class InArray(In):
    """`in`, by one parameter on PostgreSQL: hundreds of keys would cost a millisecond for a hundred otherwise."""

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **extra_context: Any) -> Any:
        if not self.rhs_is_direct_value():
            return self.as_sql(compiler, connection)
        column, parameters = self.process_lhs(compiler, connection)
        keys = [key for key in self.rhs if key is not None]
        if not keys:
            raise EmptyResultSet
        return f"{column} = ANY(%s)", (*parameters, keys)


KeyField.register_lookup(InArray)


class DatabaseTimeField(models.DateTimeField[datetime, datetime]):
    """The time of a row's last change, by the database's clock; with `auto_now`."""

    def pre_save(self, instance: models.Model, add: bool) -> datetime:  # noqa: FBT001 - Django's signature
        changed_at = clock.now()
        setattr(instance, self.attname, changed_at)
        return changed_at


class JSONTextField(models.TextField[Any, Any]):
    """A JSON value stored as compact text with its keys in order, so that an answer can embed it unparsed.

    PostgreSQL's ``jsonb`` would reorder keys, rewrite numbers and be formatted again at each read.
    """

    def from_db_value(self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper) -> Any:
        return None if value is None else orjson.loads(value)

    def to_python(self, value: Any) -> Any:
        return value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else orjson.dumps(value).decode()

    def value_to_string(self, obj: models.Model) -> str:
        return orjson.dumps(self.value_from_object(obj)).decode()
