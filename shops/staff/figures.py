"""The times at which the staff's figures were last counted, how old they may be, and what can't be counted again."""

from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction

from shops.db.fields import KeyField
from shops.staff.days import STAFF_TIME_ZONE

LABELS, PARCELS = "labels", "parcels"
# What is older may be removed by its age, under the present setting or one before.
REMOVED_PARCELS = "removed parcels"
# `work` counts every few minutes: older ones tell that it does not run.
STALE_AFTER = timedelta(minutes=15)


class Recount(models.Model):
    """The last count of one kind of figures, or the time before which one can't be made again."""

    name = KeyField(primary_key=True, max_length=32)
    counted_at = models.DateTimeField()
    time_zone = models.CharField(max_length=64, db_default="UTC", help_text="Of the days counted.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} at {self.counted_at}"


def counted_at(name: str) -> datetime | None:
    """Return the moment that these figures are of; none before the first count of days of this time zone."""
    counts = Recount.objects.filter(name=name, time_zone=STAFF_TIME_ZONE.key)
    moment: datetime | None = counts.values_list("counted_at", flat=True).first()
    return moment


def note(name: str, moment: datetime) -> None:
    Recount.objects.update_or_create(name=name, defaults={"counted_at": moment, "time_zone": STAFF_TIME_ZONE.key})


def note_latest(name: str, moment: datetime) -> None:
    """Note a moment unless a later one is known."""
    known = counted_at(name)
    if known is None or known < moment:
        note(name, moment)


def replace(old: models.QuerySet[Any], new: list[Any]) -> None:
    """Put new figures in place of the old ones; of two processes the later one's stay."""
    with transaction.atomic():
        list(old.order_by("pk").select_for_update())
        old.delete()
        old.model._default_manager.bulk_create(new, batch_size=500)
