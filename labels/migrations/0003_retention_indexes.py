from django.db import migrations, models

from shops.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("labels", "0002_removal_times"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="shippinglabel",
            index=models.Index(
                condition=models.Q(("idempotency_key__isnull", False), ("state", "label_generated")),
                fields=["finished_at"],
                name="label_key_kept",
            ),
        ),
        AddIndexConcurrently(
            model_name="shippinglabel",
            index=models.Index(
                condition=models.Q(("pdf_removed_at", None), ("state", "label_generated")),
                fields=["finished_at"],
                name="label_pdf_kept",
            ),
        ),
        AddIndexConcurrently(
            model_name="shippinglabel",
            index=models.Index(
                condition=models.Q(("addresses_removed_at", None), ("state__in", ["label_generated", "failed"])),
                fields=["finished_at"],
                name="label_addresses_kept",
            ),
        ),
    ]
