"""The linter of migrations refuses SQL that holds up requests, and leaves alone what does not."""

import pytest

from tests.locks import refused

pytestmark = pytest.mark.any_database


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("CREATE INDEX thing_size ON thing (size)", "require-concurrent-index-creation"),
        ("ALTER TABLE thing ADD COLUMN note text NOT NULL", "adding-required-field"),
        ("ALTER TABLE thing ALTER COLUMN size TYPE bigint", "changing-column-type"),
        ("ALTER TABLE thing ALTER COLUMN size SET NOT NULL", "adding-not-nullable-field"),
        ("ALTER TABLE thing ADD CONSTRAINT positive CHECK (size > 0)", "constraint-missing-not-valid"),
        ("ALTER TABLE thing ADD CONSTRAINT one UNIQUE (size)", "disallowed-unique-constraint"),
        ("ALTER TABLE thing ADD CONSTRAINT shop FOREIGN KEY (shop) REFERENCES shop (id)", "adding-foreign-key"),
        ("ALTER TABLE thing DROP COLUMN size", "ban-drop-column"),
        ("ALTER TABLE thing RENAME COLUMN size TO length", "renaming-column"),
    ],
)
def test_a_migration_that_holds_up_requests_is_refused(sql: str, rule: str) -> None:
    assert rule in refused(f"{sql};", in_transaction=True)


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE thing ADD COLUMN note text NULL;",
        "ALTER TABLE thing ADD COLUMN note varchar(9) DEFAULT '' NOT NULL;",
        "ALTER TABLE thing ADD CONSTRAINT positive CHECK (size > 0) NOT VALID;",
        "CREATE TABLE other (id integer PRIMARY KEY, size integer NOT NULL); CREATE INDEX other_size ON other (size);",
    ],
)
def test_what_only_adds_is_left_alone(sql: str) -> None:
    assert refused(sql, in_transaction=True) == ""


def test_an_index_is_built_concurrently_outside_a_transaction_only() -> None:
    sql = "CREATE INDEX CONCURRENTLY thing_size ON thing (size); ALTER TABLE thing ADD COLUMN note text NULL;"
    assert refused(sql, in_transaction=False) == ""
    assert "ban-concurrent-index-creation-in-transaction" in refused(sql, in_transaction=True)


def test_sql_that_is_not_read_is_no_success() -> None:
    assert "syntax-error" in refused("ALTER TABEL thing;", in_transaction=True)
