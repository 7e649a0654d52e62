"""Removes parcels by age, in short transactions that block neither look-ups nor imports."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import Q

from parcels.models import Parcel, ParcelQuerySet, UnlistedEventCode

# The progress of a run: the creation time and id of the last parcel it looked at.
Position = tuple[int, str]
START: Position = (0, "")


def remove_parcels(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the parcels created and last updated before this time, with their numbers; return how many.

    The run is one pass along the index of creation times: a parcel that it skips, because it was updated recently or
    is locked by an import or another run, is not visited again.
    """
    before_ms = int(before.timestamp() * 1000)
    old = Parcel.objects.filter(created_at__lt=before_ms, updated_at__lt=before_ms)
    if is_dry_run:
        return old.count()
    total, position = 0, START
    while batch := remove_after(position, old, batch_size):
        removed, position = batch
        total += removed
    UnlistedEventCode.objects.filter(last_seen_at__lt=before).delete()  # with the text of one such parcel
    return total


@transaction.atomic
def remove_after(position: Position, old: ParcelQuerySet, size: int) -> tuple[int, Position] | None:
    """Remove a batch; return the number removed and the new position, None at the end."""
    force_custom_plans()
    created_at, parcel_id = position
    # The first condition lets PostgreSQL seek in the index.
    rest = old.filter(Q(created_at__gte=created_at), Q(created_at__gt=created_at) | Q(id__gt=parcel_id))
    free = rest.order_by("created_at", "id").select_for_update(skip_locked=True)
    rows = list(free.values_list("created_at", "id")[:size])
    if not rows:
        return None
    _, removed = Parcel.objects.filter(id__in=[parcel_id for _, parcel_id in rows]).only("id").delete()
    return removed[Parcel._meta.label], rows[-1]


def force_custom_plans() -> None:
    """Let PostgreSQL plan for the actual values until the transaction ends.

    A generic plan would read and sort all old rows for every batch.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
