"""Parcels that wait at a pickup point are listed by the end of their deposit."""

from django.db import migrations, models

from shops.db.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0013_taken")]

    operations = [
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                condition=models.Q(("last_status", "WAITING_FOR_PICKUP")),
                fields=["end_deposit_date"],
                name="parcel_goes_back",
            ),
        ),
    ]
