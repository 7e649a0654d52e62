"""Compares the labels' table with the storage of their PDFs; changes nothing, and fails where there is a difference."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labels.ids import EPOCH
from labels.pdfs.storage import StorageError
from labels.pdfs.storage_check import check
from shops.management import base


class Command(base.Command):
    """List where labels and deposit slips differ from the storage; exit non-zero if they do."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", metavar="YYYY-MM", help="the first month to look at; default: all")

    def handle(self, *args: Any, **options: Any) -> None:
        since = first_day(options["since"]) if options["since"] is not None else EPOCH
        found: Counter[str] = Counter()
        try:
            for kind, about in check(since):
                self.print(f"{kind}: {about}")
                found[kind] += 1
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
    if day < EPOCH:
        raise CommandError(f"--since: there are no labels from before {EPOCH:%Y-%m}")
    if day > datetime.now(UTC):
        raise CommandError("--since: that month has not begun")
    return day
