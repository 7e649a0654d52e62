"""Statements of migrations for PostgreSQL only."""

from typing import Any

from django.db.migrations import RunPython


def only_postgresql(forwards: str, backwards: str) -> RunPython:
    """Return an operation that runs these statements on PostgreSQL, and nothing elsewhere."""
    return RunPython(runner(forwards), runner(backwards))


def runner(statements: str) -> Any:
    def run(apps: Any, schema_editor: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statements)

    return run
