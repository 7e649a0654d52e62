"""Many rows written by one statement: sent to PostgreSQL as one JSON text, at a fraction of the cost of Django's."""

from collections.abc import Sequence
from typing import Any

import orjson
from django.db import connection
from django.db.models import AutoField, Model
from psycopg.sql import SQL, Composable, Identifier

STATEMENT = "INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s){conflict}"


def insert(rows: Sequence[Model], *, ignore_conflicts: bool = False, update_fields: Sequence[str] = ()) -> None:
    """Insert rows of one model.

    Of a row whose key is there already, update the named fields, or ignore it.
    """
    if not rows:
        return
    model = type(rows[0])
    if connection.vendor == "postgresql":
        conflict = on_conflict(model, update_fields) if update_fields or ignore_conflicts else SQL("")
        insert_json(rows, conflict)
    elif update_fields:
        key = [model._meta.pk.name]
        model._default_manager.bulk_create(rows, update_conflicts=True, unique_fields=key, update_fields=update_fields)
    else:
        model._default_manager.bulk_create(rows, ignore_conflicts=ignore_conflicts)


def insert_json(rows: Sequence[Model], conflict: Composable) -> None:
    model = type(rows[0])
    fields = {str(field.column): field for field in model._meta.concrete_fields if is_written(field)}
    columns = SQL(", ").join(Identifier(column) for column in fields)
    statement = SQL(STATEMENT).format(table=Identifier(model._meta.db_table), columns=columns, conflict=conflict)
    with connection.cursor() as cursor:
        cursor.execute(statement.as_string(), [orjson.dumps([values(row, fields) for row in rows]).decode()])


def is_written(field: Any) -> bool:
    """Tell if a column has a value of the row's; others are the database's own."""
    return not (field.generated or isinstance(field, AutoField))


def values(row: Model, fields: dict[str, Any]) -> dict[str, Any]:
    """Return a row's values by column, as they are stored."""
    return {
        column: field.get_db_prep_save(field.pre_save(row, add=True), connection) for column, field in fields.items()
    }


def on_conflict(model: type[Model], update_fields: Sequence[str]) -> Composable:
    columns = [Identifier(str(field.column)) for field in model._meta.concrete_fields if field.name in update_fields]
    changes = SQL(", ").join(SQL("{0} = EXCLUDED.{0}").format(column) for column in columns)
    action = SQL("UPDATE SET {}").format(changes) if columns else SQL("NOTHING")
    return SQL(" ON CONFLICT ({}) DO {}").format(Identifier(model._meta.pk.attname), action)
