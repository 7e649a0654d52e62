"""A cancellation without an answer is a state of its own, and a label may have parcels beyond those ordered."""

from django.db import migrations, models

from shops.db.constraints import AddConstraintNotValid
from shops.db.indexes import AddIndexConcurrently

STATES = [
    ("purchasing", "being bought: the carrier is asked, or the process was interrupted"),
    ("received", "bought: the PDF waits for the storage"),
    ("label_generated", "bought, stored"),
    ("failed", "not bought"),
    ("incomplete", "some parcels were bought before the carrier refused another"),
    ("unknown", "may have been bought: to be found out or decided"),
    ("cancelling", "bought, to be cancelled: the carrier could not yet"),
    ("cancel_unknown", "bought, to be cancelled: the carrier may have done so without an answer"),
    ("cancelled", "bought, then cancelled"),
]
UNFINISHED = ["received", "purchasing", "unknown", "incomplete", "cancelling", "cancel_unknown"]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("labels", "0003_slip_account")]

    operations = [
        migrations.AddField(
            "shippinglabel",
            "surplus_numbers",
            models.JSONField(
                blank=True, db_default=[], default=list, help_text="Made too, and not the label's: they are cancelled."
            ),
        ),
        migrations.AlterField(
            "shippinglabel", "state", models.CharField(choices=STATES, default="purchasing", max_length=16)
        ),
        migrations.RemoveConstraint("shippinglabel", "label_state_is_known"),
        AddConstraintNotValid(
            "shippinglabel",
            models.CheckConstraint(
                condition=models.Q(state__in=[state for state, _ in STATES]), name="label_state_is_known"
            ),
        ),
        AddIndexConcurrently(
            "shippinglabel",
            models.Index(
                fields=["leased_until"],
                name="label_interrupted",
                condition=models.Q(state__in=UNFINISHED, ask_again_at=None),
            ),
        ),
    ]
