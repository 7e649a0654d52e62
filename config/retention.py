"""Removes data that is older than the settings allow."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings

from labels.idempotency import KEYS_KEPT
from labels.personal_data.retention import release_keys, remove_addresses, remove_pdfs
from parcels.personal_data.retention import remove_parcels
from shops.contracts.accounts import FORMER_ACCOUNTS_KEPT
from shops.db import clock
from shops.retention import remove_accounts, remove_entries, remove_events, remove_sessions, remove_tokens
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.webhooks.feed import EVENTS_KEPT

BATCH_SIZE = 500  # rows that are removed in a transaction


class Kind(NamedTuple):
    """A kind of data: its name, the days it is kept (None: for ever) and the function that removes it."""

    name: str
    days: int | None
    remove: Callable[..., int]


def kinds() -> list[Kind]:
    """List all kinds; keys, which are in receipts too, and PDFs come last, as their storage may be down."""
    keep = settings
    # A PDF shows the addresses.
    pdf_days = min(filter(None, (keep.KEEP_LABEL_PDFS_DAYS, keep.KEEP_LABEL_ADDRESSES_DAYS)), default=None)
    return [
        Kind("parcels", keep.KEEP_PARCELS_DAYS, remove_parcels),
        Kind("labels' addresses", keep.KEEP_LABEL_ADDRESSES_DAYS, remove_addresses),
        Kind("access tokens", keep.KEEP_TOKENS_DAYS, remove_tokens),
        Kind("webhook deliveries", EVENTS_KEPT.days, remove_events),
        Kind("sessions", 0, remove_sessions),
        Kind("replaced accounts", FORMER_ACCOUNTS_KEPT.days, remove_accounts),
        Kind("audit entries", keep.KEEP_AUDIT_DAYS, remove_entries),
        Kind("idempotency keys", KEYS_KEPT.days, release_keys),
        Kind("labels' PDFs", pdf_days, remove_pdfs),
    ]


def apply_retention(
    is_stopping: Callable[[], bool] = lambda: False, *, is_dry_run: bool = False
) -> Iterator[tuple[Kind, int]]:
    """Remove what is too old, and yield each kind with its number; begin none when stopping. Raise StorageError."""
    now = clock.now()
    for kind in kinds():
        if is_stopping():
            return
        count = 0
        if kind.days is not None:
            before = now - timedelta(days=kind.days)
            count = kind.remove(before=before, batch_size=BATCH_SIZE, is_dry_run=is_dry_run)
        if count and not is_dry_run:
            record(Action.REMOVED, kind=kind.name, count=count, kept_days=kind.days)
        yield kind, count
