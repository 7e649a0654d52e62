"""Ids and order numbers in capital and small letters are found in any case, along indexes of these few."""

from django.db import migrations

from shops.db.indexes import AddIndexConcurrently, index_of_both_cases

INDEXES = {
    "parcel_order_number_cases": "order_number",
    "parcel_order_cases": "order_id",
    "parcel_id_cases": "id",
}


class Migration(migrations.Migration):
    atomic = False  # built while the service runs

    dependencies = [("parcels", "0004_carrier_and_status")]

    operations = [
        AddIndexConcurrently(model_name="parcel", index=index_of_both_cases(column, name))
        for name, column in INDEXES.items()
    ]
