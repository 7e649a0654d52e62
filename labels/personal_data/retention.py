"""Removes PDFs, addresses and idempotency keys of labels by age.

The row stays: it was paid for. Age counts from the end of the purchase. A purchase that has not ended does not age: a
key whose outcome is unknown or in progress is never released.
"""

from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from labels.lifecycle import parcels
from labels.models import LabelState, ShippingLabel
from labels.pdfs import receipts
from labels.personal_data.erasure import WITHOUT_KEYS, anonymise, blank_receipts, past_promise, remove_pdf
from parcels.personal_data import erasure
from shops.db.querysets import rows_with

# The states of what was bought and is settled.
BOUGHT = (LabelState.GENERATED, LabelState.CANCELLED)


def release_keys(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Release the idempotency keys of labels bought before this, and of those erased; return their number."""
    bought = ShippingLabel.objects.filter(state__in=BOUGHT, finished_at__lt=before)
    released = 0
    for kept in (bought.filter(idempotency_key__isnull=False), past_promise()):
        released += kept.count() if is_dry_run else sum(iter(partial(release, kept, batch_size), 0))
    return released


@transaction.atomic
def release(kept: QuerySet[ShippingLabel], size: int) -> int:
    """Release the oldest keys, without those that another run has locked; of erased labels in the receipts too."""
    oldest = kept.order_by("finished_at").select_for_update(skip_locked=True)
    ids = list(oldest.values_list("id", flat=True)[:size])
    erased = ShippingLabel.objects.filter(id__in=ids, addresses_removed_at__isnull=False)
    blank_receipts(erased.values_list("id", flat=True))
    return ShippingLabel.objects.filter(id__in=ids).update(**WITHOUT_KEYS)


def remove_addresses(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Erase the people from purchases that ended before this; return the number of labels."""
    kept = ShippingLabel.objects.over().filter(addresses_removed_at=None, finished_at__lt=before)
    if is_dry_run:
        return kept.count()
    oldest = kept.order_by("finished_at").select_for_update(of=("self",), skip_locked=True)
    return sum(iter(lambda: remove_oldest(oldest[:batch_size]), 0))


@transaction.atomic
def remove_oldest(rows: QuerySet[ShippingLabel]) -> int:
    """Erase the people from these labels, and from their parcels that the shop has not reported itself."""
    ids = list(rows.values_list("id", flat=True))
    erasure.erase(parcels.parcels_of(ids))
    return anonymise(ShippingLabel.objects.filter(id__in=ids))


def remove_pdfs(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the stored PDFs of labels bought before this, and older receipts; return the PDFs' number.

    Raise StorageError.

    No transaction is open meanwhile. Two runs at once remove the same PDFs, which does no harm.
    """
    bought = ShippingLabel.objects.filter(state__in=BOUGHT, finished_at__lt=before)
    kept = bought.filter(pdf_removed_at=None)
    if is_dry_run:
        return kept.count()
    oldest = kept.order_by("finished_at").only("id")
    removed = 0
    while labels := list(oldest[:batch_size]):
        removed += sum(map(remove_pdf, labels))
    blank_outdated(receipts.remove_old(before))
    return removed


def blank_outdated(written_at: dict[str, datetime]) -> None:
    """Erase the people from receipts that were written before their labels lost the addresses. Raise StorageError.

    They are of labels that something happened to long after the purchase, such as a cancellation.
    """
    erased = ShippingLabel.objects.filter(addresses_removed_at__isnull=False)
    times = rows_with(written_at, erased.values_list("id", "addresses_removed_at"))
    blank_receipts([label_id for label_id, removed_at in times if written_at[label_id] < removed_at])
