"""Parcels are listed and counted along the day they were handed in or delivered on, and those not handed in."""

from django.db import migrations, models

from shops.db.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0011_handed_in_before")]

    operations = [
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                fields=["handed_in_at"],
                name="parcel_handed_in",
                condition=models.Q(("handed_in_at__isnull", False)),
            ),
        ),
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                fields=["delivery_date"],
                name="parcel_delivered",
                condition=models.Q(("delivery_date__gt", 0)),
            ),
        ),
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                fields=["-created_at", "-id"],
                name="parcel_not_handed_in",
                condition=models.Q(("handed_in_at", None), ("is_withdrawn", False)),
            ),
        ),
    ]
