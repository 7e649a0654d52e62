"""Audit entries are found by the rows that a list showed."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations

from shops.db.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("shops", "0003_who_saw_what")]

    operations = [
        AddIndexConcurrently("auditentry", GinIndex(fields=["search_words"], name="audit_search_words")),
    ]
