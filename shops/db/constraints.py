"""Constraints that are added while the service runs."""

from typing import Any

from django.contrib.postgres import operations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddConstraint
from django.db.migrations.state import ProjectState

from shops.db.indexes import Concurrently


class AddConstraintNotValid(Concurrently, operations.AddConstraintNotValid):
    """Adds a check for rows from now on, without reading the others on PostgreSQL; elsewhere it is AddConstraint."""

    usual, concurrent = AddConstraint, operations.AddConstraintNotValid


class ValidateConstraint(operations.ValidateConstraint):
    """Checks the rows that were there before, without blocking writes; it belongs into a migration of its own."""

    def database_forwards(self, app_label: str, schema_editor: Any, *states: Any, **named: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, *states, **named)


class AddUniqueConcurrently(AddConstraint):
    """Adds a unique constraint with a condition, an index, without blocking writes on PostgreSQL.

    Its migration needs ``atomic = False``. An interrupted run leaves an invalid index: drop it by its name.
    """

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        sql = str(self.constraint.create_sql(model, schema_editor))
        if schema_editor.connection.vendor == "postgresql":
            sql = sql.replace("CREATE UNIQUE INDEX", "CREATE UNIQUE INDEX CONCURRENTLY", 1)
        schema_editor.execute(sql)
