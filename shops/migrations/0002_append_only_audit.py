"""Lets PostgreSQL refuse every change of an audit entry, and the removal of a young one."""

from typing import Any

from django.db import migrations

MIN_DAYS = 90
FORWARDS = f"""
CREATE FUNCTION shops_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < now() - interval '{MIN_DAYS} days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit entries are not changed, and not removed before {MIN_DAYS} days'
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON shops_auditentry
    FOR EACH ROW EXECUTE FUNCTION shops_audit_is_append_only();
"""
BACKWARDS = """
DROP TRIGGER audit_is_append_only ON shops_auditentry;
DROP FUNCTION shops_audit_is_append_only();
"""


def on_postgresql(statements: str) -> Any:
    """Return an operation's function that runs these statements on PostgreSQL only."""

    def run(apps: Any, schema_editor: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statements)

    return run


class Migration(migrations.Migration):
    dependencies = [("shops", "0001_initial")]

    operations = [migrations.RunPython(on_postgresql(FORWARDS), on_postgresql(BACKWARDS))]
