"""Migrations run while the previous version still serves, so they only add."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, models
from django.db.migrations import (
    AddConstraint,
    AddField,
    AddIndex,
    AlterField,
    AlterModelManagers,
    AlterModelOptions,
    CreateModel,
    Migration,
    RemoveConstraint,
    RemoveField,
    RemoveIndex,
    RunPython,
    RunSQL,
)
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Q

from shops.db.indexes import AddIndexConcurrently

# The last ones of the first release, 0.1.0. Those of its development are nobody's upgrade.
RELEASED = {"shops": "0013_morning_mail", "parcels": "0014_goes_back", "labels": "0012_request_index"}
# Migrations that do more than add, each with the reason why the previous version works meanwhile.
EXAMINED: dict[tuple[str, str], str] = {}
# Operations that change nothing in the database, or only lift a restriction.
HARMLESS = (CreateModel, AlterModelOptions, AlterModelManagers, RemoveConstraint, RemoveIndex)


def faults(migration: Migration, state: ProjectState) -> Iterator[str]:
    """Yield the operations that could break the previous version, or block its requests."""
    created = {operation.name_lower for operation in migration.operations if isinstance(operation, CreateModel)}
    for operation in migration.operations:
        model = getattr(operation, "model_name_lower", getattr(operation, "model_name", "")).lower()
        if model not in created and (fault := fault_of(operation, migration, state)):
            yield f"{operation.describe()}: {fault}"
        operation.state_forwards(migration.app_label, state)


def fault_of(operation: Operation, migration: Migration, state: ProjectState) -> str | None:
    match operation:
        case AddIndex():
            is_held_up = migration.atomic or not isinstance(operation, AddIndexConcurrently)
            return "locks the table: AddIndexConcurrently, with atomic = False, does not" if is_held_up else None
        case AddConstraint():
            return "rows that the previous version writes might violate it"
        case AddField():
            return (
                None
                if is_optional(operation.field)
                else "the previous version does not fill it: needs null or db_default"
            )
        case AlterField():
            return change_of(old_field(operation, migration, state), operation.field)
        case RunPython() | RunSQL():
            return None if operation.reversible else "can't be reversed"
    return None if isinstance(operation, HARMLESS) else "the previous version may use it"


def is_optional(field: Any) -> bool:
    return bool(field.null or field.many_to_many or field.has_db_default())


def old_field(operation: AlterField, migration: Migration, state: ProjectState) -> Any:
    return state.models[migration.app_label, operation.model_name_lower].fields[operation.name]


def change_of(old: Any, new: Any) -> str | None:
    """Describe a change that the database would see; None for choices and texts, which it does not know."""
    if old.null and not new.null and not new.has_db_default():
        return "the previous version may leave it out"
    if type(old) is not type(new) or old.unique is not new.unique or new.db_index > old.db_index:
        return "its column changes"
    if new.max_length != old.max_length:
        return "statements that the previous version has prepared fail, whatever its new length"
    return None


def later_migrations() -> list[tuple[str, str]]:
    loader = MigrationLoader(None)
    return [(app, name) for app, name in sorted(loader.graph.nodes) if name > RELEASED.get(app, "~")]


def test_every_migration_since_the_release_only_adds() -> None:
    loader = MigrationLoader(None)
    found = {}
    for key in later_migrations():
        state = loader.project_state([parent.key for parent in loader.graph.node_map[key].parents])
        found[key] = list(faults(loader.graph.nodes[key], state))
    assert {key: seen for key, seen in found.items() if seen and key not in EXAMINED} == {}
    assert set(EXAMINED) <= set(found)


THING: list[tuple[str, models.Field[Any, Any]]] = [
    ("id", models.AutoField(primary_key=True)),
    ("name", models.CharField(max_length=10)),
    ("size", models.IntegerField(null=True)),
]
INDEX = models.Index(fields=["size"], name="thing_size")
CHECK = models.CheckConstraint(condition=Q(size__gt=0), name="thing_has_a_size")


def nothing(*args: object) -> None:
    """Change no data."""


@pytest.mark.parametrize(
    ("operation", "is_fine"),
    [
        (AddField("thing", "note", models.TextField(null=True)), True),
        (AddField("thing", "note", models.TextField(db_default="")), True),
        (AddField("thing", "note", models.TextField(default="")), False),
        (AddField("thing", "note", models.TextField()), False),
        (AlterField("thing", "name", models.CharField(max_length=20)), False),
        (AlterField("thing", "name", models.CharField(max_length=10, choices=[("a", "A")], null=True)), True),
        (AlterField("thing", "name", models.CharField(max_length=5)), False),
        (AlterField("thing", "name", models.CharField(max_length=10, unique=True)), False),
        (AlterField("thing", "name", models.TextField()), False),
        (AlterField("thing", "size", models.IntegerField()), False),
        (AddIndex("thing", INDEX), False),
        (AddIndexConcurrently("thing", INDEX), False),  # in a transaction
        (AddConstraint("thing", CHECK), False),
        (RemoveConstraint("thing", "thing_has_a_name"), True),
        (RemoveField("thing", "size"), False),
        (RunPython(nothing), False),
        (RunPython(nothing, nothing), True),
        (RunSQL("SELECT 1"), False),
    ],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", str(value)),  # an address differs from process to process
)
def test_the_rule_separates_safe_operations_from_unsafe_ones(operation: Any, *, is_fine: bool) -> None:
    assert (list(faults(migration_of(operation), state_with_a_thing())) == []) is is_fine


def migration_of(*operations: Operation, atomic: bool = True) -> Migration:
    made: type[Migration] = type("Migration", (Migration,), {"operations": operations, "atomic": atomic})
    return made("0002_more", "shops")


def test_an_index_added_concurrently_is_safe() -> None:
    migration = migration_of(AddIndexConcurrently("thing", INDEX), atomic=False)
    assert list(faults(migration, state_with_a_thing())) == []


def state_with_a_thing() -> ProjectState:
    state = ProjectState()
    named = models.CheckConstraint(condition=~Q(name=""), name="thing_has_a_name")
    CreateModel("Thing", THING, options={"constraints": [named]}).state_forwards("shops", state)
    return state


def test_a_new_table_may_have_indexes_and_constraints() -> None:
    migration = migration_of(CreateModel("Other", THING), AddIndex("other", INDEX), AddConstraint("other", CHECK))
    assert list(faults(migration, ProjectState())) == []


def test_an_index_is_added_to_a_table_in_use_and_removed(transactional_db: None) -> None:
    before, after = state_with_a_thing(), state_with_a_thing()
    operation = AddIndexConcurrently("thing", INDEX)
    operation.state_forwards("shops", after)
    thing = after.apps.get_model("shops", "Thing")

    def indexes() -> set[str]:
        with connection.cursor() as cursor:
            return set(connection.introspection.get_constraints(cursor, "shops_thing"))

    with connection.schema_editor(atomic=False) as editor:
        editor.create_model(before.apps.get_model("shops", "Thing"))
        operation.database_forwards("shops", editor, before, after)
        assert "thing_size" in indexes()
        operation.database_backwards("shops", editor, after, before)
        assert "thing_size" not in indexes()
        editor.delete_model(thing)
