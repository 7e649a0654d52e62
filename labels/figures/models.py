"""Labels counted by day, shop, product and state."""

from django.db import models

from shops.contracts.models import CARRIER_CHOICES
from shops.db.fields import KeyField

KEY = ["day", "shop", "carrier_code", "product_code", "state", "error_code"]


class LabelFigure(models.Model):
    """The labels ordered on one day of one shop, carrier, product, state and error code."""

    day = models.DateField()
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="+", db_index=False)
    carrier_code = KeyField(max_length=16, choices=CARRIER_CHOICES)
    product_code = KeyField(max_length=64)
    state = KeyField(max_length=16)
    error_code = KeyField(max_length=64, blank=True)
    labels = models.PositiveIntegerField()
    parcels = models.PositiveIntegerField()
    grams = models.PositiveBigIntegerField()
    last_finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = KEY
        verbose_name_plural = "figures for finance"
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=KEY, name="labelfigure_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.shop_id} {self.product_code} {self.state}: {self.labels}"
