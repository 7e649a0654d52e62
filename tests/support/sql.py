"""Statements that a test or a drill executes itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"  # connections for a lock of another one


def execute(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    """Execute a statement; return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def value(statement: str, values: Any = None) -> Any:
    """Execute a statement; return its only value."""
    [[found]] = execute(statement, values)
    return found


@contextmanager
def statements(database: Any = connection) -> Iterator[list[str]]:
    """Collect the statements sent to a database while the block runs."""
    seen: list[str] = []

    def note(execute: Any, sql: str, *args: Any) -> Any:
        seen.append(sql)
        return execute(sql, *args)

    with database.execute_wrapper(note):
        yield seen


@contextmanager
def held(lock: str) -> Iterator[None]:
    """Hold what a statement locks, as an import does; what waits for it here gives up after a tenth of a second."""
    other = connection.copy()
    try:
        other.cursor().execute(f"BEGIN; {lock}")
        execute("SET statement_timeout = '100ms'")
        yield
    finally:
        other.close()
        connection.close()


def configure(change: str) -> None:
    """Change a setting of PostgreSQL, such as ``RESET name``."""
    execute(f"ALTER SYSTEM {change}")
    execute("SELECT pg_reload_conf()")


def use_indexes(*, sort: bool = True) -> None:
    """Let PostgreSQL use indexes for a few rows too, in this transaction, and where it may not sort for their order."""
    for plan in ("seqscan",) if sort else ("seqscan", "bitmapscan", "sort"):
        execute(f"SET LOCAL enable_{plan} = off")
