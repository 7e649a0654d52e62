"""A tracking number is a row: the table that parcels are found by gets what is known of each number."""

from typing import Any

from django.db import migrations, models

from shops.db.fields import JSONTextField, NullableKeyField

STATES = [("reported", "named by the shop"), ("bought", "bought with a label"), ("cancelled", "of a cancelled label")]
OF_A_PARCEL: dict[str, models.Field[Any, Any]] = {
    "told_status": models.CharField(
        max_length=32,
        null=True,
        help_text="While it is withdrawn: the status that webhooks were told; '' is none.",
    ),
    "reported": JSONTextField(
        null=True, help_text="What the shop's imports said happened, once the carrier has added to it."
    ),
    "are_texts_erased": models.BooleanField(
        default=False, db_default=False, help_text="No text or place of the carrier's is kept."
    ),
}
OF_A_NUMBER: dict[str, models.Field[Any, Any]] = {
    "state": models.CharField(max_length=16, choices=STATES, default="reported", db_default="reported"),
    "label": NullableKeyField(max_length=64, null=True, help_text="The id of the label that bought it."),
    "is_added": models.BooleanField(
        default=False, db_default=False, help_text="It came with a label, and the shop's imports do not name it."
    ),
    "carrier_code": models.CharField(max_length=16, default="", db_default="", help_text="Empty: nobody can be asked."),
    "events": JSONTextField(default=list, db_default=[], help_text="The oldest first, with their places."),
    "expected": JSONTextField(null=True, help_text="The delivery that the carrier expects: from, until; milliseconds."),
    "last_event_at": models.BigIntegerField(null=True, help_text="The carrier's newest event: Unix milliseconds."),
    "followed_since": models.DateTimeField(null=True),
    "due_at": models.DateTimeField(null=True, help_text="Null when the carrier is asked no more."),
    "leased_until": models.DateTimeField(null=True, help_text="The end of the lease of the process that asks now."),
    "checked_at": models.DateTimeField(null=True, help_text="When the carrier last answered."),
    "outcome": models.CharField(
        max_length=32, default="", db_default="", help_text="The outcome of the last question."
    ),
    "failures": models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Questions without an answer since."
    ),
}


class Migration(migrations.Migration):
    dependencies = [("parcels", "0005_keys_in_any_case")]

    operations = [
        # The table keeps its name: the version before goes on finding parcels by it.
        migrations.AlterModelTable("parcelnumber", "parcels_parcelnumber"),
        migrations.RenameModel("ParcelNumber", "TrackingNumber"),
        *(migrations.AddField("parcel", name, field) for name, field in OF_A_PARCEL.items()),
        *(migrations.AddField("trackingnumber", name, field) for name, field in OF_A_NUMBER.items()),
    ]
