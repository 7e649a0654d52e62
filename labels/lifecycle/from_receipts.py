"""Makes the rows of labels again that a database lost by a restore to an earlier moment, from their receipts.

It can be repeated, and after an interruption it goes on: receipts are taken in the order in which they were written,
and a row that knows as much as its receipt stays as it is. What was in doubt is in doubt again, and is reconciled.
"""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import transaction

from labels.ids import EPOCH, id_time
from labels.lifecycle import parcels
from labels.lifecycle.states import write_back
from labels.models import OVER, STORED, LabelState, ShippingLabel
from labels.pdfs import receipts, storage
from parcels.personal_data import erasure
from shops.db import clock
from shops.db.locks import lock
from shops.models import Shop

CLOCKS_DIFFER_BY: Final = timedelta(hours=1)  # at most: those of the hosts and of the storage
NO_SHOP: Final = "receipts of a shop that is gone"
UNREADABLE: Final = "receipts that none of CREDENTIALS_KEYS opens"
# Of two rows of one time the later state; `unknown` again is one whose PDF is asked for.
ORDER: Final = [
    *(LabelState.PURCHASING, LabelState.INCOMPLETE, LabelState.CANCELLING, LabelState.CANCEL_UNKNOWN),
    *(LabelState.GENERATED, LabelState.UNKNOWN, LabelState.RECEIVED, LabelState.CANCELLED, LabelState.FAILED),
]
logger = logging.getLogger("labels.recovering")


def recover(since: datetime | None = None, *, is_dry_run: bool = False) -> Iterator[str]:
    """Bring every label up to its receipt, if that was written since; yield what was done, one for each label changed.

    By default that is the time of the newest label in the database. Raise StorageError.
    """
    newest = ShippingLabel.objects.order_by("-id").values_list("id", flat=True).first()
    since = since or (id_time(newest) if newest else EPOCH) - CLOCKS_DIFFER_BY
    for label_id, label in receipts.read_since(since):
        done = put_back(label, is_dry_run=is_dry_run) if label else UNREADABLE
        if done:
            logger.info("label recovered", extra={"label": label_id, "reason": done})
            yield done


def put_back(label: ShippingLabel, *, is_dry_run: bool) -> str:
    """Write a label's row as its receipt has it, unless the row knows more; say what was done. Raise StorageError."""
    if not Shop.objects.filter(id=label.shop_id).exists():
        return NO_SHOP
    with transaction.atomic():
        lock("labels put back")  # so that of two runs at once the second finds the row of the first
        row = ShippingLabel.objects.row_of(label).select_for_update(of=("self",)).first()
        if row is not None and not is_behind(row, label):
            return ""
        # Let a PDF that the storage lost too be fetched by the reservation, where the carrier gives it again.
        is_kept = label.state == LabelState.GENERATED and not (label.pdf_removed_at or label.addresses_removed_at)
        if is_kept and label.reservation_number and not storage.is_stored(label.pdf_key):
            label.state, label.last_event, label.ask_again_at = LabelState.UNKNOWN, "", None
        if label.state != LabelState.PURCHASING:  # whose process may be at work still
            label.leased_until = min(label.leased_until, clock.now())
        if not is_dry_run:
            if row is not None:
                row.delete()
            write_back(label, was_bought=row is not None and row.state in STORED)
            if label.addresses_removed_at:
                erasure.erase(parcels.parcels_of([label.id]))
    return f"labels {'brought up to date' if row else 'put back'}: {label.state}"


def is_behind(row: ShippingLabel, label: ShippingLabel) -> bool:
    """Return whether a row knows less than the receipt. A PDF that waits in the row is stored as ever."""
    if label.addresses_removed_at and not row.addresses_removed_at and row.state not in OVER:
        return True  # it was over before its customer was erased
    is_as_stored = (row.state, label.state) == (LabelState.RECEIVED, LabelState.GENERATED)
    return progress(label) > progress(row) and not (is_as_stored and row.decided_at == label.decided_at)


def progress(label: ShippingLabel) -> tuple[datetime, int]:
    times = (label.finished_at, label.cancel_requested_at, label.decided_at)
    return max(filter(None, times), default=datetime.min.replace(tzinfo=UTC)), ORDER.index(LabelState(label.state))
