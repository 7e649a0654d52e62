"""Indexes of what is due, and a label's number on one parcel only."""

from django.db import migrations, models
from django.db.models import Q

from shops.db.constraints import AddUniqueConcurrently
from shops.db.indexes import AddIndexConcurrently

IS_DUE = Q(due_at__isnull=False)
INDEXES = [
    models.Index(fields=["carrier_code", "due_at"], name="number_due", condition=IS_DUE),
    models.Index(fields=["carrier_code", "shop", "due_at"], name="number_due_of_shop", condition=IS_DUE),
    models.Index(fields=["last_event_at"], name="number_silent", condition=IS_DUE),
    models.Index(fields=["shop", "followed_since"], name="number_of_a_label", condition=Q(state="bought")),
]


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0006_number_rows")]

    operations = [
        *(AddIndexConcurrently("trackingnumber", index) for index in INDEXES),
        AddUniqueConcurrently(
            "trackingnumber",
            models.UniqueConstraint(
                fields=["shop", "number", "label"], name="number_on_one_parcel", condition=Q(label__isnull=False)
            ),
        ),
    ]
