"""Statements of hot paths: the ORM writes their SQL on first use, and later runs reuse it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

Row = Sequence[Any]
Read = Callable[[], list[Row]]


class Argument(str):
    """A placeholder in a statement for the value of a named argument."""

    __slots__ = ()


def argument(name: str) -> Any:
    return RawSQL("%s", [Argument(name)])


@contextmanager
def pipelined() -> Iterator[None]:
    """Send the block's statements to PostgreSQL without waiting for each answer: only reading rows waits, and the end.

    A statement's error is raised there, and those that were sent after it are not carried out.
    """
    own: Any = connections[DEFAULT_DB_ALIAS]
    if own.vendor != "postgresql":
        yield
        return
    own.close_if_health_check_failed()  # a cursor would do so in the block, where the pipeline is the old one's
    own.ensure_connection()
    with own.wrap_database_errors, own.connection.pipeline():
        yield


def send(sql: str, values: Sequence[Any] = ()) -> Read:
    """Execute a statement; return a function that reads its rows."""
    own = connections[DEFAULT_DB_ALIAS]
    cursor = own.cursor()
    cursor.execute(sql, values)
    read: Read = cursor.fetchall
    if own.vendor == "postgresql":
        return read
    rows = read()  # a cursor that nobody reads would keep SQLite at what the database was then
    return lambda: rows


def bound(parameters: Sequence[Any], arguments: dict[str, Any]) -> list[Any]:
    return [arguments[each] if isinstance(each, Argument) else each for each in parameters]


class PreparedQuery:
    """A query; `build` returns its queryset with an `argument` for each value."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        self.build = build

    def start(self, **arguments: Any) -> Read:
        """Execute it; return a function that reads the rows, each a sequence of the columns' values."""
        compiler, sql, parameters, converters = self.compiled
        read = send(sql, bound(parameters, arguments))
        return lambda: list(compiler.apply_converters(read(), converters)) if converters else read()

    def rows(self, **arguments: Any) -> list[Row]:
        return self.start(**arguments)()

    @cached_property
    def compiled(self) -> tuple[Any, str, Sequence[Any], Any]:
        compiler = self.build().query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        return compiler, sql, parameters, compiler.get_converters([column for column, *_ in compiler.select])


@contextmanager
def planned_for_values() -> Iterator[None]:
    """Prepare no statement in a block.

    A statement that is prepared soon has one plan for all values. The best plan of a list depends on them: a status may
    be that of half the parcels or of none.
    """
    held = connection.connection if connection.vendor == "postgresql" else None
    if held is None:  # a new connection prepares too few statements in a request
        yield
        return
    usual, held.prepare_threshold = held.prepare_threshold, None
    try:
        yield
    finally:
        held.prepare_threshold = usual


@contextmanager
def in_index_order() -> Iterator[None]:
    """Let PostgreSQL read rows in an index's order in a block, and sort as few as it can.

    After a vacuum of an empty queue it takes each of the queue's indexes for empty until its table is analyzed. Then it
    would read all of the smallest one, and sort what it finds.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(savepoint=False):
        send("SELECT set_config('enable_sort', 'off', true)")
        yield
        send("SELECT set_config('enable_sort', 'on', true)")
