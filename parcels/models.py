"""Parcels, and the numbers they are found by."""

from typing import Self

from django.db import models
from django.db.models import Q

from shops.db.fields import JSONTextField, KeyField, NullableKeyField
from shops.db.querysets import ForShop
from shops.models import Shop

MAX_KEY_LENGTH = 255


class TrackingStatus(models.TextChoices):
    """The status of a parcel, as the API names it."""

    FULFILLED = "FULFILLED", "Order shipped; parcel handed to the carrier"
    IN_TRANSIT = "IN_TRANSIT", "Parcel in transit"
    OUT_FOR_DELIVERY = "OUT_FOR_DELIVERY", "Out for delivery"
    DELIVERED = "DELIVERED", "Delivered"
    DELIVERY_FAILURE = "DELIVERY_FAILURE", "Delivery attempt failed"
    WAITING_FOR_PICKUP = "WAITING_FOR_PICKUP", "Awaiting pickup at a relay or pickup point"
    RETURN_TO_SENDER = "RETURN_TO_SENDER", "Parcel being returned to the sender"
    RETURNED_TO_SENDER = "RETURNED_TO_SENDER", "Parcel returned to the sender"
    EXCEPTION = "EXCEPTION", "Carrier exception (lost, damaged, and so on)"


class ParcelQuerySet(ForShop):
    """Finds and orders parcels."""

    def with_number(self, shop_id: str, number: str) -> Self:
        """Find by any tracking number, the newest first, along one index of the numbers' table."""
        found = self.filter(numbers__shop=shop_id, numbers__number=number)
        return found.order_by("-numbers__created_at", "-numbers__parcel_id")

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Parcel(models.Model):
    """A parcel as the shop's systems report it; times are Unix milliseconds, as in the API."""

    id = KeyField(primary_key=True, max_length=MAX_KEY_LENGTH)
    shop = models.ForeignKey(Shop, on_delete=models.PROTECT, related_name="parcels", db_index=False)
    order_id = models.CharField(max_length=MAX_KEY_LENGTH)
    order_number = KeyField(max_length=MAX_KEY_LENGTH)
    tracking_id = models.CharField(max_length=MAX_KEY_LENGTH)
    tracking_numbers = JSONTextField()
    carrier_code = models.CharField(max_length=64)
    carrier_product = models.CharField(max_length=MAX_KEY_LENGTH, null=True)
    carrier_display_name = models.CharField(max_length=MAX_KEY_LENGTH, null=True)
    last_status = models.CharField(max_length=32, null=True, choices=TrackingStatus)
    last_status_updated_at = models.BigIntegerField(null=True)
    carrier_last_status = JSONTextField(null=True)
    estimated_delivery_date_window = JSONTextField(null=True)
    delivery_date = models.BigIntegerField(null=True)
    end_deposit_date = models.BigIntegerField(null=True)
    destination = JSONTextField()
    line_items = JSONTextField()
    events = JSONTextField(help_text="Newest first.")
    created_at = models.BigIntegerField()
    updated_at = models.BigIntegerField()

    # Internal: never part of an answer.
    customer_email = NullableKeyField(max_length=320, null=True)
    customer_locale = models.CharField(max_length=64, null=True)
    previous_emails = JSONTextField(default=list)
    gift_config = JSONTextField(null=True)
    cross_sell_recommendations = JSONTextField(default=list)
    web_template = models.CharField(max_length=MAX_KEY_LENGTH, null=True)

    imported_at = models.DateTimeField(help_text="When the shop's systems last reported the parcel.")

    objects = ParcelQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # The key comes before the shop, so that one index serves a shop's search and the staff's across all shops.
            models.Index(fields=["order_number", "shop", "-created_at", "-id"], name="parcel_order_number"),
            models.Index(fields=["customer_email", "shop", "-created_at", "-id"], name="parcel_customer_email"),
            models.Index(fields=["shop", "-created_at", "-id"], name="parcel_shop_newest"),
            models.Index(fields=["-created_at", "-id"], name="parcel_newest"),
            # For `parcels.erasure`: the few parcels with earlier e-mails.
            models.Index(fields=["shop"], name="parcel_previous_emails", condition=~Q(previous_emails=[])),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(id=""), name="parcel_has_an_id"),
            models.CheckConstraint(
                condition=Q(last_status=None) | Q(last_status__in=TrackingStatus.values),
                name="parcel_status_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tracking_id} ({self.order_number})"


class ParcelNumber(models.Model):
    """A number that a parcel is found by: its `tracking_id` and each of its `tracking_numbers`, once."""

    shop = models.ForeignKey(Shop, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = KeyField(max_length=MAX_KEY_LENGTH)
    # Needs no index of its own: the unique constraint begins with it.
    parcel = models.ForeignKey(Parcel, on_delete=models.CASCADE, related_name="numbers", db_index=False)
    created_at = models.BigIntegerField(help_text="The parcel's, so that the newest is found along the index.")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["number", "shop", "-created_at", "-parcel"], name="parcelnumber_newest")]
        constraints = [models.UniqueConstraint(fields=["parcel", "number"], name="parcelnumber_once_a_parcel")]

    def __str__(self) -> str:
        return self.number
