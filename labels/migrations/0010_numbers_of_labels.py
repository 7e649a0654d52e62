"""The rows of tracking numbers know the label that bought them, and whether it was cancelled."""

from typing import Any

from django.db import migrations, transaction

BATCH_SIZE = 500
BOUGHT = ("label_generated", "cancelling", "cancel_unknown")
GIVEN_OUT_AGAIN_MS = 390 * 86_400_000


def forwards(apps: Any, schema_editor: Any) -> None:
    labels = apps.get_model("labels", "ShippingLabel").objects.filter(state__in=[*BOUGHT, "cancelled"])
    rows, last = (
        labels.order_by("pk").only("shop_id", "state", "tracking_numbers", "cancelled_numbers", "created_at"),
        "",
    )
    while batch := list(rows.filter(pk__gt=last)[:BATCH_SIZE]):
        with transaction.atomic():
            for label in batch:
                mark(apps.get_model("parcels", "TrackingNumber"), label)
        last = batch[-1].pk


def mark(numbers: Any, label: Any) -> None:
    since = label.created_at.timestamp() * 1000 - GIVEN_OUT_AGAIN_MS
    own = numbers.objects.filter(shop=label.shop_id, created_at__gt=since, label=None)
    for number in label.tracking_numbers:
        is_cancelled = label.state == "cancelled" or number in label.cancelled_numbers
        rows = own.filter(number=number)
        # A cancellation has taken its numbers off the tracking: only the label's own parcel tells that it was one.
        rows = rows.filter(parcel=label.pk) if is_cancelled else rows.filter(state="bought")
        found = rows.order_by("-created_at").values_list("pk", flat=True).first()
        state = "cancelled" if is_cancelled else "bought"
        numbers.objects.filter(pk=found).update(label=label.pk, state=state)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("labels", "0009_listed"), ("parcels", "0008_moved_tracking")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
