"""Numbers without news and bought labels that are not handed in are found along indexes of their own."""

from django.db import migrations, models
from django.db.models import Q

from parcels.figures.silence import NEWEST_OF_CARRIER
from shops.db.indexes import AddIndexConcurrently, RemoveIndexConcurrently


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0014_goes_back")]

    operations = [
        AddIndexConcurrently(
            "trackingnumber",
            models.Index(NEWEST_OF_CARRIER, name="number_newest_event", condition=Q(due_at__isnull=False)),
        ),
        AddIndexConcurrently(
            "trackingnumber",
            models.Index(fields=["label", "parcel"], name="number_bought", condition=Q(state="bought")),
        ),
        RemoveIndexConcurrently("trackingnumber", "number_silent"),
    ]
