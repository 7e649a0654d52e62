"""Statements that a drill executes itself."""

from typing import Any

from django.db import connection

from tests.drills.forks import close_connections


def execute(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    """Execute a statement; return its rows. The connection is not kept: a drill forks, and kills servers."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found = cursor.fetchall() if cursor.description else []
    close_connections()
    return found


def configure(**settings: str) -> None:
    """Change settings of PostgreSQL."""
    for name, value in settings.items():
        execute(f"ALTER SYSTEM SET {name} = '{value}'")
    execute("SELECT pg_reload_conf()")


def write_to_disk() -> None:
    """Let PostgreSQL write as in production, which tests leave out."""
    configure(fsync="on", full_page_writes="on")
