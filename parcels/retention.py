"""Removes parcels by age, in short transactions that hold up neither a look-up nor an import."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import Q

from parcels.models import Parcel, ParcelQuerySet

# A time of creation with the id of a parcel made then: how far a run has come.
Position = tuple[int, str]
START: Position = (0, "")


def remove_parcels(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the parcels made and last updated before this, with their numbers; return how many.

    It is one pass along the index of creation times: what is left standing, because it was updated lately or because
    an import or another run holds it, is not met again.
    """
    before_ms = int(before.timestamp() * 1000)
    old = Parcel.objects.filter(created_at__lt=before_ms, updated_at__lt=before_ms)
    if is_dry_run:
        return old.count()
    total, position = 0, START
    while batch := remove_after(position, old, batch_size):
        removed, position = batch
        total += removed
    return total


@transaction.atomic
def remove_after(position: Position, old: ParcelQuerySet, size: int) -> tuple[int, Position] | None:
    """Remove a batch; return how many that was and how far it went, None at the end."""
    force_custom_plans()
    created_at, parcel_id = position
    # The first condition is what the index is entered by.
    rest = old.filter(Q(created_at__gte=created_at), Q(created_at__gt=created_at) | Q(id__gt=parcel_id))
    free = rest.order_by("created_at", "id").select_for_update(skip_locked=True)
    rows = list(free.values_list("created_at", "id")[:size])
    if not rows:
        return None
    _, removed = Parcel.objects.filter(id__in=[parcel_id for _, parcel_id in rows]).only("id").delete()
    return removed[Parcel._meta.label], rows[-1]


def force_custom_plans() -> None:
    """Let PostgreSQL plan for the values at hand until the transaction ends.

    A plan for any values would read all that is old and sort it, for every batch.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
