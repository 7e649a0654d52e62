"""Removes parcels by age, in short transactions that block neither look-ups nor imports."""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from parcels.models import Parcel, UnlistedEventCode
from parcels.tracking.events import milliseconds
from shops.db import clock
from shops.db.prepared import planned_for_values
from shops.db.querysets import after
from shops.staff import figures

ORDER: Final = ("created_at", "id")


def remove_parcels(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the parcels created and last updated before this time, with their numbers; return how many.

    The run is one pass along the index of creation times: a parcel that it skips, because it was updated recently or
    is locked by an import or another run, is not visited again.
    """
    if not is_dry_run:
        figures.note_latest(figures.REMOVED_PARCELS, before)
    before_ms = milliseconds(before)
    # An erasure was an update for clients. Of a parcel that no import has reported its last status was the one before.
    is_erased = Q(are_texts_erased=True, imported_at=None) & ~Q(last_status_updated_at__gte=before_ms)
    old = Parcel.objects.filter(Q(updated_at__lt=before_ms) | is_erased, created_at__lt=before_ms)
    if is_dry_run:
        return old.count()
    rest = old = old.order_by(*ORDER).select_for_update(skip_locked=True)
    removed = 0
    with planned_for_values():  # a plan for all values would read and sort all old rows for every batch
        while batch := remove(rest[:batch_size]):
            removed += len(batch)
            rest = old.filter(after(vars(batch[-1]), ORDER))
    UnlistedEventCode.objects.filter(last_seen_at__lt=before).delete()  # with the text of one such parcel
    return removed


def removed_before() -> datetime | None:
    """Return the time before which parcels may be gone by their age; a setting that is longer by now brings none back.

    None where none was ever removed.
    """
    days, noted = settings.KEEP_PARCELS_DAYS, figures.counted_at(figures.REMOVED_PARCELS)
    by_setting = None if days is None else clock.now() - timedelta(days=days)
    return max(filter(None, (noted, by_setting)), default=None)


@transaction.atomic
def remove(rows: QuerySet[Parcel]) -> list[Parcel]:
    """Remove a batch with its numbers; return the parcels."""
    batch = list(rows.only(*ORDER))
    Parcel.objects.filter(id__in=[parcel.id for parcel in batch]).only("id").delete()
    return batch
