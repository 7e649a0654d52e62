"""Indexes that are added and removed while the service runs, and the one of keys in capital and small letters."""

from typing import Any

from django.contrib.postgres import operations
from django.db.migrations import AddIndex, RemoveIndex
from django.db.migrations.operations.base import Operation
from django.db.models import Index, Q
from django.db.models.functions import Lower, Upper


def has_both_cases(column: str) -> Q:
    """Make the condition of the few keys with capital and small letters, which no spelling in one case finds."""
    return ~Q(**{column: Lower(column)}) & ~Q(**{column: Upper(column)})


def index_of_both_cases(column: str, name: str) -> Index:
    return Index(Lower(column), name=name, condition=has_both_cases(column))


class Concurrently:
    """An operation that does not block writes on PostgreSQL; elsewhere it is the one of `usual`."""

    usual: type[Operation]
    concurrent: type[Operation]

    def database_forwards(self, app_label: str, schema_editor: Any, *states: Any, **named: Any) -> None:
        self.kind(schema_editor).database_forwards(self, app_label, schema_editor, *states, **named)

    def database_backwards(self, app_label: str, schema_editor: Any, *states: Any, **named: Any) -> None:
        self.kind(schema_editor).database_backwards(self, app_label, schema_editor, *states, **named)

    def kind(self, schema_editor: Any) -> Any:
        return self.concurrent if schema_editor.connection.vendor == "postgresql" else self.usual


class AddIndexConcurrently(Concurrently, operations.AddIndexConcurrently):
    """Adds an index while the service runs.

    Its migration needs ``atomic = False``. An interrupted run leaves an invalid index: drop it by its name, and
    migrate again.
    """

    usual, concurrent = AddIndex, operations.AddIndexConcurrently


class RemoveIndexConcurrently(Concurrently, operations.RemoveIndexConcurrently):
    """Removes an index while the service runs. Its migration needs ``atomic = False``."""

    usual, concurrent = RemoveIndex, operations.RemoveIndexConcurrently
