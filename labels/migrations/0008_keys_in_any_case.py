"""Order ids in capital and small letters are found in any case, along an index of these few."""

from django.db import migrations

from shops.db.indexes import AddIndexConcurrently, index_of_both_cases


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("labels", "0007_last_event")]

    operations = [
        AddIndexConcurrently(model_name="shippinglabel", index=index_of_both_cases("order_id", "label_order_cases"))
    ]
