"""Empties the database after a test that commits, quicker than Django's flush: rows go, what migrations made stays."""

from functools import cache

from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

from config.roles import make_groups

# Content types, permissions and the roles' groups: rows that no test changes, or else all of them are made anew.
MADE_BY_MIGRATIONS = ("django_content_type", "auth_permission", "auth_group", "auth_group_permissions")


def install() -> None:
    """Do so after each test that commits; to be called when the database is as migrations have left it."""
    for alias in connections:
        first_counts(alias)
    TransactionTestCase._fixture_teardown = empty_all  # type: ignore[attr-defined]


def empty_all(test: TransactionTestCase) -> None:
    for alias in test._databases_names(include_mirrors=False):  # type: ignore[attr-defined]
        empty(connections[alias])


def empty(connection: BaseDatabaseWrapper) -> None:
    """Remove the rows of all tables that have some."""
    counted = counts(connection)
    if counted != first_counts(connection.alias):
        call_command("flush", verbosity=0, interactive=False, database=connection.alias, reset_sequences=False)
        make_groups()
        first_counts.cache_clear()
        first_counts(connection.alias)  # at once: the next test may remove such rows too
    elif tables := filled(connection):
        remove_rows(connection, tables)


def remove_rows(connection: BaseDatabaseWrapper, tables: list[str]) -> None:
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # neither triggers nor foreign keys; a TRUNCATE makes new files
            cursor.execute("SET LOCAL session_replication_role = replica")
        for table in tables:
            cursor.execute(f'DELETE FROM "{table}"')


def filled(connection: BaseDatabaseWrapper) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(filled_sql(connection.alias))
        return [table for (table,) in cursor.fetchall()]


@cache
def filled_sql(alias: str) -> str:
    tables = connections[alias].introspection.django_table_names(only_existing=True, include_views=False)
    emptied = set(tables) - {*MADE_BY_MIGRATIONS}
    return " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")" for table in sorted(emptied))


def counts(connection: BaseDatabaseWrapper) -> tuple[int, ...]:
    columns = ", ".join(f"(SELECT count(*) FROM {table})" for table in MADE_BY_MIGRATIONS)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns}")
        return tuple(cursor.fetchone() or ())


@cache
def first_counts(alias: str) -> tuple[int, ...]:
    return counts(connections[alias])
