"""Test shops: a mark that both databases refuse to change."""

from typing import Any

from django.db import migrations, models

POSTGRESQL = (
    """
CREATE FUNCTION shops_mode_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a shop is a test shop or a live one for good' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER mode_is_final BEFORE UPDATE OF is_test ON shops_shop
    FOR EACH ROW WHEN (OLD.is_test IS DISTINCT FROM NEW.is_test) EXECUTE FUNCTION shops_mode_is_final();
""",
    """
DROP TRIGGER mode_is_final ON shops_shop;
DROP FUNCTION shops_mode_is_final();
""",
)
# A later migration that makes the table anew, as some do on SQLite, has to make the trigger anew.
SQLITE = (
    """
CREATE TRIGGER mode_is_final BEFORE UPDATE OF is_test ON shops_shop WHEN OLD.is_test IS NOT NEW.is_test
BEGIN SELECT RAISE(ABORT, 'a shop is a test shop or a live one for good'); END
""",
    "DROP TRIGGER mode_is_final",
)
FORWARDS, BACKWARDS = range(2)


def run(direction: int) -> Any:
    """Return an operation's function that runs the database's statements."""

    def run_statements(apps: Any, schema_editor: Any) -> None:
        statements = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
        schema_editor.execute(statements[direction])

    return run_statements


class Migration(migrations.Migration):
    dependencies = [("shops", "0011_taken")]

    operations = [
        migrations.AddField(
            "shop",
            "is_test",
            models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.RunPython(run(FORWARDS), run(BACKWARDS)),
    ]
