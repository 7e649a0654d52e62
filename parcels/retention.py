"""Removes parcels by age, in short transactions that hold up neither a look-up nor an import."""

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from parcels.models import Parcel, ParcelQuerySet


def remove_parcels(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the parcels made and last updated before this, with their numbers; return how many."""
    before_ms = int(before.timestamp() * 1000)
    old = Parcel.objects.filter(created_at__lt=before_ms, updated_at__lt=before_ms)
    if is_dry_run:
        return old.count()
    return sum(remove(old.filter(id__in=ids)) for ids in batches(old, batch_size))


def batches(old: ParcelQuerySet, size: int) -> Iterator[list[str]]:
    """Give the parcels' ids in one pass along the index of creation times.

    What is left standing, because it was updated lately or an import holds it, is not met again in the same run.
    """
    rest = old.order_by("created_at", "id")
    while rows := list(rest.values_list("created_at", "id")[:size]):
        yield [parcel_id for _, parcel_id in rows]
        created_at, parcel_id = rows[-1]
        # The first condition is what the index is entered by.
        rest = rest.filter(Q(created_at__gte=created_at), Q(created_at__gt=created_at) | Q(id__gt=parcel_id))


@transaction.atomic
def remove(parcels: ParcelQuerySet) -> int:
    """Remove a batch; what an import or another run of this holds is passed over, not waited for."""
    free = parcels.order_by("id").select_for_update(skip_locked=True)
    ids = list(free.values_list("id", flat=True))
    _, removed = Parcel.objects.filter(id__in=ids).only("id").delete()
    return removed.get(Parcel._meta.label, 0)
