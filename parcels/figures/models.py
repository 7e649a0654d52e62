"""Parcels counted by day, carrier and status, and the state of each carrier's tracking."""

from django.db import models
from django.utils.translation import gettext_lazy

from shops.db.fields import JSONTextField, KeyField


class Timing(models.TextChoices):
    """A parcel beside its promise, the end of the delivery window that was reported."""

    ON_TIME = "on_time", gettext_lazy("on time")
    LATE = "late", gettext_lazy("delivered late")
    OVERDUE = "overdue", gettext_lazy("past their promise")


class ParcelFigure(models.Model):
    """The parcels created on one day of one carrier, status and timing; of the days shown only."""

    day = models.DateField()
    carrier_code = KeyField(max_length=64)
    status = KeyField(max_length=32, blank=True)
    timing = KeyField(max_length=16, blank=True, help_text="Empty: no delivery window is known, or it is still open.")
    parcels = models.PositiveIntegerField()

    class Meta:
        ordering = ["day", "carrier_code", "status", "timing"]
        default_permissions = ()  # whoever may see parcels may see their figures
        constraints = [
            models.UniqueConstraint(fields=["day", "carrier_code", "status", "timing"], name="parcelfigure_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.carrier_code} {self.status}: {self.parcels}"


class DayFigure(models.Model):
    """The parcels of one shop and carrier that were handed in, and delivered, on one day."""

    day = models.DateField()
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="+", db_index=False)
    carrier_code = KeyField(max_length=64)
    handed_in = models.PositiveIntegerField(default=0)
    delivered = models.PositiveIntegerField(default=0)
    on_time = models.PositiveIntegerField(default=0, help_text="Of those promised, delivered within their promise.")
    promised = models.PositiveIntegerField(default=0, help_text="Delivered, and of which a promise is known.")

    class Meta:
        ordering = ["day", "shop", "carrier_code"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["day", "shop", "carrier_code"], name="dayfigure_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.shop_id} {self.carrier_code}: {self.handed_in}"


class TrackingFigure(models.Model):
    """One carrier's parcels that are followed now."""

    carrier_code = KeyField(primary_key=True, max_length=64)
    followed = models.PositiveIntegerField()
    silent = JSONTextField(default=dict, help_text="Those without news for a number of days, by that number.")
    last_answer_at = models.DateTimeField(null=True)
    due_since = models.DateTimeField(null=True, help_text="The earliest question that is due.")

    class Meta:
        ordering = ["carrier_code"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.carrier_code}: {self.followed}"
