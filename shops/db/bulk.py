"""Rows of a model made and written, one or many at once, at a fraction of the cost of Django's own; keys in batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain, islice
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import (
    AutoField,
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    QuerySet,
)
from django.db.models.base import ModelState
from django.db.models.sql import UpdateQuery

from shops.db import clock
from shops.db.fields import JSONTextField
from shops.db.prepared import Read, argument, bound, send

AnyModel = TypeVar("AnyModel", bound=Model)
Key = TypeVar("Key", str, int)
Item = TypeVar("Item")
Prepare = Callable[[Model], Any]

BATCH_SIZE = 200
MAX_VALUES = 20_000  # of a statement: SQLite takes 32,766 at least, PostgreSQL 65,535
# Fields whose values are stored as they are; PostgreSQL stores times so, too.
PLAIN = (CharField, IntegerField, BooleanField, ForeignKey)


class Layout(NamedTuple):
    """The columns of a model, the function that reads them, and which are not stored as they are: JSON, and others."""

    columns: tuple[str, ...]
    values: Callable[[Model], tuple[Any, ...]]
    json: list[int]
    prepared: list[tuple[int, Prepare]]


@cache
def layout(model: type[Model], names: tuple[str, ...] = ()) -> Layout:
    """Return the layout of the named fields, or of all that are written."""
    # Others have no value of the row's: they are the database's own.
    own = (field for field in model._meta.concrete_fields if not (field.generated or isinstance(field, AutoField)))
    fields: list[Any] = [field for field in own if not names or field.name in names]
    json = [place for place, field in enumerate(fields) if is_json_text(field)]
    prepared = [(at, preparation(field)) for at, field in enumerate(fields) if not (at in json or is_plain(field))]
    columns, values = tuple(field.column for field in fields), attrgetter(*(field.attname for field in fields))
    return Layout(columns, values, json, prepared)


def is_plain(field: Any) -> bool:
    if isinstance(field, DateTimeField):
        is_given = type(field) is DateTimeField and not (field.auto_now or field.auto_now_add)
        return is_given and connection.vendor == "postgresql"
    return isinstance(field, PLAIN)


def is_json_text(field: Any) -> bool:
    return isinstance(field, JSONTextField) or (isinstance(field, JSONField) and connection.vendor == "postgresql")


def preparation(field: Field[Any, Any]) -> Prepare:
    return lambda row: field.get_db_prep_save(field.pre_save(row, add=True), connection)


def stored(row: Model, names: tuple[str, ...] = ()) -> list[Any]:
    """Return a row's values as they are stored, in the order of the columns."""
    layout_ = layout(type(row), names)
    values = list(layout_.values(row))
    for place in layout_.json:
        if values[place] is not None:
            values[place] = orjson.dumps(values[place]).decode()
    for place, prepare in layout_.prepared:
        values[place] = prepare(row)
    return values


def instance(model: type[AnyModel], **values: Any) -> AnyModel:
    """Make a row of values by attribute, and of defaults, without the constructor, which takes ten times as long."""
    made = model.__new__(model)
    constants, factories = defaults(model)
    rest = {name: make() for name, make in factories if name not in values}
    made.__dict__.update(constants | rest | values, _state=ModelState())
    return made


def instances(rows: QuerySet[AnyModel], fields: Sequence[str] = ()) -> Iterator[AnyModel]:
    """Read the named columns of rows, or all, by attribute; the others have their defaults."""
    return (instance(rows.model, **values) for values in rows.values(*fields))


@cache
def defaults(model: type[Model]) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
    """Return the defaults by attribute: those that are values, and those that are made for each row."""
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    made = [field for field in fields if callable(field.default) and (field.has_default() or field.has_db_default())]
    constants = {field.attname: field.get_default() for field in fields if field not in made}
    return constants, [(field.attname, field.get_default) for field in made]


def insert(rows: Sequence[Model]) -> None:
    """Insert rows of one model."""
    if rows:
        model = type(rows[0])
        insert_values(model, layout(model).columns, map(stored, rows))


def insert_values(model: type[Model], columns: tuple[str, ...], rows: Iterable[list[Any] | tuple[Any, ...]]) -> None:
    """Insert rows of values as they are stored."""
    rows = iter(rows)  # while one is made, PostgreSQL writes those before it
    first = list(islice(rows, 2))
    with connection.wrap_database_errors, connection.cursor() as cursor:
        if len(first) == 1:  # PostgreSQL plans it once for a connection, where COPY takes three exchanges
            cursor.execute(insertion(model, columns), first[0])
        elif connection.vendor == "postgresql":
            with cursor.copy(f"COPY {model._meta.db_table} ({listed(columns)}) FROM STDIN") as copy:
                for row in chain(first, rows):
                    copy.write_row(row)
        else:
            cursor.executemany(insertion(model, columns), [*first, *rows])


class PreparedInsert:
    """An insert of a model's row; `ending` are its last clauses, in which `{now}` is the database's time."""

    def __init__(self, model: type[Model], ending: str = "") -> None:
        self.model = model
        self.ending = ending

    def start(self, row: Model) -> Read:
        """Execute it; return a function that reads the rows that its ending returns."""
        row._state.adding = False
        ending = self.ending.format(now=clock.COLUMN[connection.vendor])
        return send(f"{insertion(self.model, layout(self.model).columns)} {ending}", stored(row))


class PreparedUpdate:
    """An update of a row's columns, none a foreign key; `build` returns the row's queryset, an `argument` a value."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]], *names: str) -> None:
        self.build = build
        self.names = names

    def start(self, row: Model, **arguments: Any) -> Read:
        """Execute it with the row's values; return a function that reads one row if there was one to write to."""
        sql, parameters = self.compiled
        values = zip(layout(type(row), self.names).columns, stored(row, self.names), strict=True)
        return send(sql, bound(parameters, arguments | dict(values)))

    @cached_property
    def compiled(self) -> tuple[str, Sequence[Any]]:
        query: Any = self.build().query.chain(UpdateQuery)
        query.add_update_values({name: argument(name) for name in self.names})
        sql, parameters = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        return f"{sql} RETURNING 1", parameters


def save(rows: Sequence[Model], names: tuple[str, ...]) -> None:
    """Update the named fields of rows of one model."""
    if not rows:
        return
    model = type(rows[0])
    table, key, columns = model._meta.db_table, model._meta.pk.column, layout(model, names).columns
    values = [[*stored(row, names), row.pk] for row in rows]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            changes = listed(columns, "{0} = new.{0}")
            text = orjson.dumps([dict(zip([*columns, key], row, strict=True)) for row in values]).decode()
            new = f"json_populate_recordset(NULL::{table}, %s) AS new WHERE {table}.{key} = new.{key}"
            cursor.execute(f"UPDATE {table} SET {changes} FROM {new}", [text])  # noqa: S608 - its own names  # nosec B608
        else:
            changes = listed(columns, "{0} = %s")
            cursor.executemany(f"UPDATE {table} SET {changes} WHERE {key} = %s", values)  # noqa: S608 - as above  # nosec B608


@cache
def insertion(model: type[Model], columns: tuple[str, ...]) -> str:
    table, marks = connection.ops.quote_name(model._meta.db_table), ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {table} ({listed(columns)}) VALUES ({marks})"  # noqa: S608 - its own names  # nosec B608


def listed(columns: Sequence[str], form: str = "{0}") -> str:
    return ", ".join(form.format(connection.ops.quote_name(column)) for column in columns)


def batches(ids: Iterable[Key], size: int = BATCH_SIZE) -> Iterator[list[Key]]:
    """Return batches in the order of ids. All callers lock rows in that order, which prevents deadlocks."""
    return chunks(sorted(ids), size)


def chunks(values: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the values in their order, so many at a time."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk
