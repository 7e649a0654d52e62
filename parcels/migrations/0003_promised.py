"""Parcels that are past their promise are listed along an index."""

from django.db import migrations, models
from django.db.models import F, Q

import shops.db.fields
from parcels.figures.timing import NumberIn
from shops.db.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0002_due_of_each_shop")]

    operations = [
        migrations.AlterField(
            model_name="parcelfigure",
            name="timing",
            field=shops.db.fields.KeyField(
                blank=True, help_text="Empty: no delivery window is known, or it is still open.", max_length=16
            ),
        ),
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                NumberIn(F("estimated_delivery_date_window"), key="maximumDeliveryDate"),
                name="parcel_promised",
                condition=Q(
                    ~Q(last_status="DELIVERED"),
                    delivery_date__isnull=True,
                    estimated_delivery_date_window__isnull=False,
                    is_withdrawn=False,
                ),
            ),
        ),
    ]
