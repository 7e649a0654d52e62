"""The rows that were there before the new state are checked; the index over fewer states goes."""

from django.db import migrations

from shops.db.constraints import ValidateConstraint
from shops.db.indexes import RemoveIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("labels", "0004_label_life")]

    operations = [
        ValidateConstraint("shippinglabel", "label_state_is_known"),
        RemoveIndexConcurrently("shippinglabel", "label_open"),
    ]
