"""Audit entries name what a list showed and take their time from PostgreSQL; a token shows its end and who asked for it."""

from typing import Any

from django.db import migrations, models

import shops.db.words

FORWARDS = """
CREATE FUNCTION shops_audit_is_dated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER audit_is_dated BEFORE INSERT ON shops_auditentry
    FOR EACH ROW EXECUTE FUNCTION shops_audit_is_dated();
"""
BACKWARDS = """
DROP TRIGGER audit_is_dated ON shops_auditentry;
DROP FUNCTION shops_audit_is_dated();
"""


def on_postgresql(statements: str) -> Any:
    """Return an operation's function that runs these statements on PostgreSQL only."""

    def run(apps: Any, schema_editor: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statements)

    return run


class Migration(migrations.Migration):
    dependencies = [("shops", "0002_append_only_audit")]

    operations = [
        migrations.AddField(
            model_name="accesstoken",
            name="asked_by",
            field=models.CharField(
                blank=True,
                db_default="",
                editable=False,
                help_text="Who asked for it, if another gives it.",
                max_length=150,
            ),
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="last_four",
            field=models.CharField(
                blank=True,
                db_default="",
                editable=False,
                help_text="The end of its text, to tell it by.",
                max_length=4,
            ),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="search_words",
            field=shops.db.words.WordsField(
                db_default="", default="", editable=False, help_text="Ids and customers of the rows that a list showed."
            ),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("signed_in", "Signed In"),
                    ("sign_in_failed", "Sign In Failed"),
                    ("viewed", "Viewed"),
                    ("listed", "Listed"),
                    ("pdf_opened", "Pdf Opened"),
                    ("searched", "Searched"),
                    ("exported", "Exported"),
                    ("added", "Added"),
                    ("changed", "Changed"),
                    ("removed", "Removed"),
                ],
                max_length=16,
            ),
        ),
        migrations.RunPython(on_postgresql(FORWARDS), on_postgresql(BACKWARDS)),
    ]
