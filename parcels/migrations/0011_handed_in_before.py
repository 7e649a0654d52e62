"""Parcels that were there before get the time they were handed in, in batches that can be broken off.

What the version before writes meanwhile gets it with its next news.
"""

from typing import Any

from django.db import migrations, transaction

BATCH_SIZE = 2000
UPDATE = """
UPDATE parcels_parcel SET handed_in_at = COALESCE(
  (SELECT min({at}) FROM {each} WHERE {status} <> 'FULFILLED'),
  CASE WHEN last_status <> 'FULFILLED' THEN COALESCE(last_status_updated_at, created_at) END)
WHERE handed_in_at IS NULL AND (last_status <> 'FULFILLED' OR events <> '[]')
AND id IN (SELECT id FROM parcels_parcel WHERE id > %s AND id <= %s ORDER BY id {lock})
"""
POSTGRESQL = {
    "at": "(event ->> 'createdAt')::bigint",
    "each": "jsonb_array_elements(events::jsonb) AS each(event)",
    "status": "event ->> 'status'",
    "lock": "FOR UPDATE",  # in the order that all lock parcels in
}
SQLITE = {
    "at": "json_extract(value, '$.createdAt')",
    "each": "json_each(events)",
    "status": "json_extract(value, '$.status')",
    "lock": "",
}


def forwards(apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    statement = UPDATE.format_map(POSTGRESQL if connection.vendor == "postgresql" else SQLITE)
    ids, last = apps.get_model("parcels", "Parcel").objects.order_by("id").values_list("id", flat=True), ""
    while batch := list(ids.filter(id__gt=last)[:BATCH_SIZE]):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, [last, batch[-1]])
        last = batch[-1]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("parcels", "0010_handed_in")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
