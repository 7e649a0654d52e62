import django.db.models.deletion
from django.db import migrations, models

import shops.db.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("shops", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Parcel",
            fields=[
                ("id", shops.db.fields.KeyField(max_length=255, primary_key=True, serialize=False)),
                ("order_id", models.CharField(max_length=255)),
                ("order_number", shops.db.fields.KeyField(max_length=255)),
                ("tracking_id", models.CharField(max_length=255)),
                ("tracking_numbers", shops.db.fields.JSONTextField()),
                ("carrier_code", models.CharField(max_length=64)),
                ("carrier_product", models.CharField(max_length=255, null=True)),
                ("carrier_display_name", models.CharField(max_length=255, null=True)),
                (
                    "last_status",
                    models.CharField(
                        choices=[
                            ("FULFILLED", "Order shipped; parcel handed to the carrier"),
                            ("IN_TRANSIT", "Parcel in transit"),
                            ("OUT_FOR_DELIVERY", "Out for delivery"),
                            ("DELIVERED", "Delivered"),
                            ("DELIVERY_FAILURE", "Delivery attempt failed"),
                            ("WAITING_FOR_PICKUP", "Awaiting pickup at a relay or pickup point"),
                            ("RETURN_TO_SENDER", "Parcel being returned to the sender"),
                            ("RETURNED_TO_SENDER", "Parcel returned to the sender"),
                            ("EXCEPTION", "Carrier exception (lost, damaged, and so on)"),
                        ],
                        max_length=32,
                        null=True,
                    ),
                ),
                ("last_status_updated_at", models.BigIntegerField(null=True)),
                ("carrier_last_status", shops.db.fields.JSONTextField(null=True)),
                ("estimated_delivery_date_window", shops.db.fields.JSONTextField(null=True)),
                ("delivery_date", models.BigIntegerField(null=True)),
                ("end_deposit_date", models.BigIntegerField(null=True)),
                ("destination", shops.db.fields.JSONTextField()),
                ("line_items", shops.db.fields.JSONTextField()),
                ("events", shops.db.fields.JSONTextField(help_text="Newest first.")),
                ("created_at", models.BigIntegerField()),
                ("updated_at", models.BigIntegerField()),
                ("customer_email", shops.db.fields.NullableKeyField(max_length=320, null=True)),
                ("customer_locale", models.CharField(max_length=64, null=True)),
                ("previous_emails", shops.db.fields.JSONTextField(default=list)),
                ("gift_config", shops.db.fields.JSONTextField(null=True)),
                ("cross_sell_recommendations", shops.db.fields.JSONTextField(default=list)),
                ("web_template", models.CharField(max_length=255, null=True)),
                (
                    "imported_at",
                    models.DateTimeField(help_text="When the shop's systems last reported it, if they did.", null=True),
                ),
                (
                    "is_withdrawn",
                    models.BooleanField(
                        default=False,
                        help_text="Its label was cancelled before the carrier reported on it: hidden from the API.",
                    ),
                ),
                (
                    "shop",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="parcels",
                        to="shops.shop",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ParcelNumber",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", shops.db.fields.KeyField(max_length=255)),
                (
                    "created_at",
                    models.BigIntegerField(help_text="The parcel's, so that the newest is found along the index."),
                ),
                (
                    "parcel",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="numbers",
                        to="parcels.parcel",
                    ),
                ),
                (
                    "shop",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="shops.shop"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="UnlistedEventCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("carrier_code", models.CharField(max_length=16)),
                ("code", models.CharField(max_length=64)),
                ("text", models.CharField(help_text="The carrier's text when it was first seen.", max_length=255)),
                ("count", models.PositiveBigIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["carrier_code", "code"],
                "constraints": [
                    models.UniqueConstraint(fields=("carrier_code", "code"), name="unlistedeventcode_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ParcelTracking",
            fields=[
                (
                    "parcel",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="tracking",
                        serialize=False,
                        to="parcels.parcel",
                    ),
                ),
                ("carrier_code", models.CharField(max_length=16)),
                (
                    "reported",
                    shops.db.fields.JSONTextField(
                        help_text="What the shop's imports said happened; null for a label's parcel.", null=True
                    ),
                ),
                (
                    "carrier_events",
                    shops.db.fields.JSONTextField(
                        default=list, help_text="What the carrier said happened, with number and place."
                    ),
                ),
                (
                    "expected",
                    shops.db.fields.JSONTextField(
                        help_text="The delivery that the carrier expects: from, until; milliseconds.", null=True
                    ),
                ),
                (
                    "last_event_at",
                    models.BigIntegerField(help_text="The carrier's newest event: Unix milliseconds.", null=True),
                ),
                ("followed_since", models.DateTimeField()),
                ("next_check_at", models.DateTimeField(help_text="Null when the carrier is asked no more.", null=True)),
                (
                    "leased_until",
                    models.DateTimeField(help_text="The end of the lease of the process that asks now.", null=True),
                ),
                ("checked_at", models.DateTimeField(help_text="When the carrier last answered.", null=True)),
                ("outcome", models.CharField(blank=True, help_text="The outcome of the last question.", max_length=32)),
                (
                    "shop",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="shops.shop"
                    ),
                ),
            ],
            options={
                "ordering": ["parcel"],
            },
        ),
        migrations.AddIndex(
            model_name="parcel",
            index=models.Index(fields=["order_number", "shop", "-created_at", "-id"], name="parcel_order_number"),
        ),
        migrations.AddIndex(
            model_name="parcel",
            index=models.Index(fields=["customer_email", "shop", "-created_at", "-id"], name="parcel_customer_email"),
        ),
        migrations.AddIndex(
            model_name="parcel",
            index=models.Index(fields=["shop", "-created_at", "-id"], name="parcel_shop_newest"),
        ),
        migrations.AddIndex(
            model_name="parcel",
            index=models.Index(fields=["-created_at", "-id"], name="parcel_newest"),
        ),
        migrations.AddIndex(
            model_name="parcel",
            index=models.Index(
                condition=models.Q(("previous_emails", []), _negated=True),
                fields=["shop"],
                name="parcel_previous_emails",
            ),
        ),
        migrations.AddConstraint(
            model_name="parcel",
            constraint=models.CheckConstraint(condition=models.Q(("id", ""), _negated=True), name="parcel_has_an_id"),
        ),
        migrations.AddConstraint(
            model_name="parcel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("last_status", None),
                    (
                        "last_status__in",
                        [
                            "FULFILLED",
                            "IN_TRANSIT",
                            "OUT_FOR_DELIVERY",
                            "DELIVERED",
                            "DELIVERY_FAILURE",
                            "WAITING_FOR_PICKUP",
                            "RETURN_TO_SENDER",
                            "RETURNED_TO_SENDER",
                            "EXCEPTION",
                        ],
                    ),
                    _connector="OR",
                ),
                name="parcel_status_is_known",
            ),
        ),
        migrations.AddIndex(
            model_name="parcelnumber",
            index=models.Index(fields=["number", "shop", "-created_at", "-parcel"], name="parcelnumber_newest"),
        ),
        migrations.AddConstraint(
            model_name="parcelnumber",
            constraint=models.UniqueConstraint(fields=("parcel", "number"), name="parcelnumber_once_a_parcel"),
        ),
        migrations.AddIndex(
            model_name="parceltracking",
            index=models.Index(
                condition=models.Q(("next_check_at__isnull", False)),
                fields=["carrier_code", "next_check_at"],
                name="tracking_due",
            ),
        ),
    ]
