"""PostgreSQL names the one who acts in an audit entry by its transaction's setting, and else the role that added it."""

from typing import Any

from django.db import migrations

FORWARDS = """
CREATE OR REPLACE FUNCTION shops_audit_is_dated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    named text := coalesce(current_setting('audit.actor', true), '');
BEGIN
    IF named <> '' THEN
        NEW := jsonb_populate_record(NEW, named::jsonb);
    ELSE
        NEW.actor := left(NEW.actor, 70) || ' (by database role ' || left(session_user, 50) || ')';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
"""
BACKWARDS = """
CREATE OR REPLACE FUNCTION shops_audit_is_dated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
"""


def on_postgresql(statements: str) -> Any:
    """Return an operation's function that runs these statements on PostgreSQL only."""

    def run(apps: Any, schema_editor: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statements)

    return run


class Migration(migrations.Migration):
    dependencies = [("shops", "0006_contract_accounts")]

    operations = [migrations.RunPython(on_postgresql(FORWARDS), on_postgresql(BACKWARDS))]
