"""Somebody of the staff takes a row of the first page, and leaves notes on it."""

from django.db import migrations, models

import shops.db.fields


class Migration(migrations.Migration):
    dependencies = [
        ("shops", "0010_recount_time_zone"),
    ]

    operations = [
        migrations.CreateModel(
            name="QueueRow",
            fields=[
                (
                    "taken_by",
                    models.CharField(blank=True, db_default="", default="", help_text="A user's name.", max_length=150),
                ),
                ("taken_at", models.DateTimeField(null=True)),
                (
                    "notes",
                    shops.db.fields.JSONTextField(
                        db_default=[], default=list, help_text="What staff noted, the oldest first: at, by, text."
                    ),
                ),
                ("name", shops.db.fields.KeyField(max_length=64, primary_key=True, serialize=False)),
            ],
            options={
                "ordering": ["name"],
                "default_permissions": (),
            },
        ),
    ]
