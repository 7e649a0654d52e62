"""Compares the labels' table with the storage of their PDFs."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labels.ids import EPOCH_MS
from labels.storage import StorageError
from labels.storage_audit import check
from shops.management import base

FIRST_DAY = datetime.fromtimestamp(EPOCH_MS / 1000, UTC)


class Command(base.Command):
    """``check_labels [--since YYYY-MM]``: changes nothing, and fails where it finds a difference."""

    help = "List labels without a PDF and PDFs without a label; exit non-zero if there is one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", metavar="YYYY-MM", help="the first month to look at; default: all")

    def handle(self, *args: Any, **options: Any) -> None:
        since = first_day(options["since"]) if options["since"] else FIRST_DAY
        found: Counter[str] = Counter()
        try:
            for finding in check(since):
                self.print(f"{finding.kind}: {finding.what}")
                found[finding.kind] += 1
        except StorageError as error:
            raise CommandError(f"the storage can't be reached ({error})") from None
        if found:
            raise CommandError(", ".join(f"{count} {kind}" for kind, count in sorted(found.items())))


def first_day(month: str) -> datetime:
    """Read a month; raise CommandError."""
    try:
        day = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        raise CommandError("--since: needs a month, such as 2026-11") from None
    if day < FIRST_DAY:
        raise CommandError(f"--since: there are no labels from before {FIRST_DAY:%Y-%m}")
    return day
