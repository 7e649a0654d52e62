from django.db import migrations, models

from shops.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("parcels", "0001_initial"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="parcel",
            index=models.Index(
                condition=models.Q(("previous_emails", []), _negated=True),
                fields=["shop"],
                name="parcel_previous_emails",
            ),
        ),
    ]
