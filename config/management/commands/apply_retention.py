"""Removes data that is older than the settings allow."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from labels.retention import release_keys, remove_addresses, remove_pdfs
from labels.storage import StorageError
from parcels.retention import remove_parcels
from shops.management import base
from shops.retention import remove_deliveries, remove_sessions, remove_tokens

MAX_BATCH_SIZE = 10_000


class Kind(NamedTuple):
    """A kind of data: its name, the days it is kept (None: for ever) and the function that removes it."""

    name: str
    days: int | None
    remove: Callable[..., int]


def kinds() -> list[Kind]:
    """List all kinds; PDFs come last, as their storage may be down."""
    keep = settings
    # A PDF shows the addresses.
    pdf_days = min(filter(None, (keep.KEEP_LABEL_PDFS_DAYS, keep.KEEP_LABEL_ADDRESSES_DAYS)), default=None)
    return [
        Kind("parcels", keep.KEEP_PARCELS_DAYS, remove_parcels),
        Kind("idempotency keys", keep.KEEP_IDEMPOTENCY_KEYS_DAYS, release_keys),
        Kind("labels' addresses", keep.KEEP_LABEL_ADDRESSES_DAYS, remove_addresses),
        Kind("access tokens", keep.KEEP_TOKENS_DAYS, remove_tokens),
        Kind("webhook deliveries", keep.KEEP_WEBHOOK_DELIVERIES_DAYS, remove_deliveries),
        Kind("sessions", 0, remove_sessions),
        Kind("labels' PDFs", pdf_days, remove_pdfs),
    ]


class Command(base.Command):
    """``apply_retention [--dry-run] [--batch N]``: safe to kill, and to run on several machines at once."""

    help = "Remove data that is older than the KEEP_..._DAYS settings allow; print the number of each kind."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be removed")
        parser.add_argument("--batch", type=int, default=500, metavar="N", help="rows a transaction (default: 500)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["batch"] <= MAX_BATCH_SIZE:
            raise CommandError(f"--batch: needs 1 to {MAX_BATCH_SIZE}")
        now = timezone.now()
        for kind in kinds():
            try:
                self.apply(kind, now, batch_size=options["batch"], is_dry_run=options["dry_run"])
            except StorageError as error:
                raise CommandError(
                    f"the storage can't be reached ({error}): not all PDFs were removed; run it again"
                ) from None

    def apply(self, kind: Kind, now: datetime, **how: Any) -> None:
        if kind.days is None:
            self.print(f"0 {kind.name} (kept for ever)")
        else:
            self.print(f"{kind.remove(before=now - timedelta(days=kind.days), **how)} {kind.name}")
