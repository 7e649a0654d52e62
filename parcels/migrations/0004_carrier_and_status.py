"""Parcels of one carrier with one status are listed along an index."""

from django.db import migrations, models

from shops.db.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0003_promised")]

    operations = [
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                fields=["carrier_code", "last_status", "-created_at", "-id"], name="parcel_carrier_status"
            ),
        ),
    ]
