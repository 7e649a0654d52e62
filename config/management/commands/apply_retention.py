"""Removes data that is older than the settings allow: safe to kill, and to run on several machines at once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.retention import apply_retention
from labels.pdfs.storage import StorageError
from shops.management import base


class Command(base.Command):
    """Remove data that is older than the KEEP_..._DAYS settings allow; print the number of each kind."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be removed")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for kind, count in apply_retention(is_dry_run=options["dry_run"]):
                self.print(f"{count} {kind.name}{' (kept for ever)' if kind.days is None else ''}")
        except StorageError as error:
            raise CommandError(
                f"the storage can't be reached ({error}): not all PDFs were removed; run it again"
            ) from None
