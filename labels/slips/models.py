"""The deposit slips that staff asked carriers for."""

from typing import Final, Self

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone

from shops.contracts.models import CARRIER_CHOICES
from shops.db.fields import KeyField, new_id
from shops.db.querysets import ForShop
from shops.models import Shop

ROOT: Final = "deposit-slips"  # the start of every PDF's name


def new_slip_id() -> str:
    return new_id("slip")


class DepositSlipQuerySet(ForShop):
    def listing(self, *label_ids: str) -> Self:
        """Find the slips that list any of these labels."""
        return self.listing_any_of("label_ids", label_ids)


class DepositSlip(models.Model):
    """A deposit slip: its row is committed before the carrier is asked, and its PDF kept before anything can fail."""

    id = KeyField(primary_key=True, max_length=64, default=new_slip_id, editable=False)
    shop = models.ForeignKey(Shop, on_delete=models.PROTECT, related_name="deposit_slips")
    carrier_code = models.CharField(max_length=16, choices=CARRIER_CHOICES)
    account_number = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="The carrier's account that they are of."
    )
    label_ids = models.JSONField(help_text="The labels whose parcels it lists.")
    tracking_numbers = models.JSONField(help_text="The parcels that it lists.")
    asked_at = models.DateTimeField(default=timezone.now)
    asked_by = models.CharField(max_length=150)

    # The carrier's answer.
    number = models.CharField(max_length=35, blank=True, help_text="The carrier's number of the slip.")
    published_at = models.DateTimeField(null=True, blank=True)
    refusal = models.TextField(blank=True, help_text="Why there is no slip.")
    pdf = models.BinaryField(null=True, editable=False, help_text="Kept here until the storage has it.")
    pdf_removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = DepositSlipQuerySet.as_manager()

    class Meta:
        ordering = ["-asked_at", "id"]
        indexes = [
            models.Index(fields=["-asked_at", "id"], name="slip_newest"),
            GinIndex(fields=["label_ids"], name="slip_label_ids", opclasses=["jsonb_path_ops"]),
        ]

    def __str__(self) -> str:
        return self.number or self.id

    @property
    def pdf_key(self) -> str:
        """The PDF's name in the storage; only staff open it."""
        return f"{ROOT}/{self.asked_at:%Y/%m}/{self.id}.pdf"

    @property
    def has_pdf(self) -> bool:
        return bool(self.number) and self.pdf_removed_at is None

    @property
    def state(self) -> str:
        """`made`, `refused`, or `open` where the answer never came: asking again costs nothing."""
        return "made" if self.number else "refused" if self.refusal else "open"
