"""Somebody of the staff takes a parcel, and leaves notes on it."""

from django.db import migrations, models

import shops.db.fields


class Migration(migrations.Migration):
    dependencies = [
        ("parcels", "0012_handed_in_indexes"),
        ("shops", "0011_taken"),
    ]

    operations = [
        migrations.AddField(
            model_name="parcel",
            name="notes",
            field=shops.db.fields.JSONTextField(
                db_default=[], default=list, help_text="What staff noted, the oldest first: at, by, text."
            ),
        ),
        migrations.AddField(
            model_name="parcel",
            name="taken_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="parcel",
            name="taken_by",
            field=models.CharField(blank=True, db_default="", default="", help_text="A user's name.", max_length=150),
        ),
    ]
