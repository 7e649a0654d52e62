"""Events become rows of their own, and deliveries point at them, in a new table.

The previous version keeps the table that it has, and its own `work` delivers what it writes there meanwhile.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now

import shops.db.fields
import shops.webhooks.models

EVENTS = """
INSERT INTO shops_webhookevent (message_id, shop_id, type, subject, data, created_at, transaction_id)
SELECT message_id, shop_id, type, subject, data, created_at, 0 FROM shops_webhookdelivery
WHERE id IN (SELECT min(id) FROM shops_webhookdelivery GROUP BY message_id) ORDER BY id
"""
SAME = (
    "id, endpoint_id, shop_id, subject, created_at, state, attempts, leased_until, last_attempt_at, last_status,"
    " last_reason, last_duration_ms"
)
DELIVERIES = f"""
INSERT INTO shops_delivery ({SAME}, event_id, due_at)
SELECT {SAME}, message_id, next_attempt_at FROM shops_webhookdelivery
"""  # noqa: S608 - its own columns  # nosec B608
NEXT_ID = (
    "SELECT setval(pg_get_serial_sequence('shops_delivery', 'id'), max(id)) FROM shops_delivery HAVING max(id) > 0"
)


def copy(apps: Any, schema_editor: Any) -> None:
    """Copy the deliveries, and make an event of each message; what is queued may be sent by both versions."""
    schema_editor.execute(EVENTS)
    schema_editor.execute(DELIVERIES)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(NEXT_ID)


class Migration(migrations.Migration):
    dependencies = [("shops", "0007_audit_names_the_one_who_acts")]

    operations = [
        # The table that stays is no model's: nothing may depend on it.
        migrations.AlterField(
            "webhookdelivery",
            "endpoint",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deliveries",
                to="shops.webhookendpoint",
            ),
        ),
        migrations.AlterField(
            "webhookdelivery",
            "shop",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="shops.shop",
            ),
        ),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("WebhookDelivery")]),
        migrations.CreateModel(
            name="WebhookEvent",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "message_id",
                    shops.db.fields.KeyField(
                        default=shops.webhooks.models.new_message_id,
                        help_text="webhook-id: the same at every attempt.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                ("type", models.CharField(max_length=64)),
                (
                    "subject",
                    shops.db.fields.KeyField(
                        help_text="The parcel, label or endpoint that it is about.", max_length=255
                    ),
                ),
                ("data", shops.db.fields.JSONTextField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "transaction_id",
                    models.BigIntegerField(db_default=shops.webhooks.models.TransactionId(), editable=False),
                ),
                (
                    "shop",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="shops.shop",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["shop", "transaction_id", "id"], name="event_in_order"),
                    models.Index(fields=["created_at"], name="event_created"),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "subject",
                    shops.db.fields.KeyField(
                        help_text="The event's: deliveries of one subject keep their order.", max_length=255
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "queued"), ("delivered", "delivered"), ("dead", "dead letter")],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(db_default=Now())),
                (
                    "leased_until",
                    models.DateTimeField(help_text="The end of the lease of the process that sends it now.", null=True),
                ),
                ("last_attempt_at", models.DateTimeField(null=True)),
                (
                    "last_status",
                    models.PositiveSmallIntegerField(help_text="Of the answer to the last attempt.", null=True),
                ),
                (
                    "last_reason",
                    models.CharField(blank=True, help_text="Why the last attempt failed.", max_length=32),
                ),
                ("last_duration_ms", models.PositiveIntegerField(null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="shops.webhookendpoint",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="shops.webhookevent",
                        to_field="message_id",
                    ),
                ),
                (
                    "shop",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="shops.shop",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "db_table": "shops_delivery",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["endpoint", "due_at", "id"],
                        name="delivery_due",
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["endpoint", "subject", "id"],
                        name="delivery_subject",
                    ),
                    models.Index(
                        condition=models.Q(("leased_until__isnull", False)), fields=["shop"], name="delivery_leased"
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")), fields=["created_at"], name="delivery_oldest"
                    ),
                    models.Index(fields=["endpoint", "-id"], name="delivery_endpoint_newest"),
                    models.Index(condition=models.Q(("state", "dead")), fields=["-id"], name="delivery_dead"),
                    models.Index(fields=["event"], name="delivery_event"),
                    models.Index(fields=["subject", "-id"], name="delivery_about"),
                    models.Index(fields=["endpoint", "-last_attempt_at"], name="delivery_latest"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "delivered", "dead"])),
                        name="delivery_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state", "queued"), ("leased_until", None), _connector="OR"),
                        name="delivery_leased_while_queued",
                    ),
                ],
            },
        ),
        migrations.RunPython(copy, migrations.RunPython.noop),
    ]
