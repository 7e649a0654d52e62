"""A label is found by the id of the request that ordered it."""

from django.db import migrations, models

from shops.db.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("labels", "0011_request_id")]

    operations = [
        AddIndexConcurrently(
            model_name="shippinglabel",
            index=models.Index(
                condition=models.Q(("request_id", ""), _negated=True), fields=["request_id"], name="label_request"
            ),
        ),
    ]
