"""Parcels know when they were handed in, and a table counts them by day and shop."""

import django.db.models.deletion
from django.db import migrations, models

import shops.db.fields


class Migration(migrations.Migration):
    dependencies = [("parcels", "0009_no_parcel_tracking"), ("shops", "0009_audit_of_the_api")]

    operations = [
        migrations.CreateModel(
            name="DayFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                (
                    "shop",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="shops.shop",
                    ),
                ),
                ("carrier_code", shops.db.fields.KeyField(max_length=64)),
                ("handed_in", models.PositiveIntegerField(default=0)),
                ("delivered", models.PositiveIntegerField(default=0)),
                (
                    "on_time",
                    models.PositiveIntegerField(
                        default=0, help_text="Of those promised, delivered within their promise."
                    ),
                ),
                (
                    "promised",
                    models.PositiveIntegerField(default=0, help_text="Delivered, and of which a promise is known."),
                ),
            ],
            options={
                "ordering": ["day", "shop", "carrier_code"],
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("day", "shop", "carrier_code"), name="dayfigure_once")],
            },
        ),
        migrations.AddField(
            model_name="parcel",
            name="handed_in_at",
            field=models.BigIntegerField(
                help_text="Internal: the first event that is more than an announcement.", null=True
            ),
        ),
    ]
