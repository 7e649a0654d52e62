"""Statements that a drill executes itself."""

from typing import Any

from tests.drills.forks import close_connections
from tests.support import sql


def execute(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    """Execute a statement; return its rows. The connection is not kept: a drill forks, and kills servers."""
    found = sql.execute(statement, values)
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
