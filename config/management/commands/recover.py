"""Brings a restored database up to what was bought since."""

from collections import Counter
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config import erasures
from config.customers import Customer
from labels.lifecycle.from_receipts import UNREADABLE, recover
from labels.lifecycle.reconciling import reconcile
from labels.management.commands.check_labels import first_day
from labels.pdfs.storage import StorageError
from shops.management import base
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class Command(base.Command):
    """Runs on a restored database, before the service starts; repeatable."""

    help = (
        "After a restore to an earlier moment: put back the labels bought since, with their keys and parcels, repeat "
        "the erasures since, and reconcile what was in doubt; print the number of each."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since", metavar="YYYY-MM", help="the first month to look at; default: from the newest label on"
        )
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        is_dry_run, since = options["dry_run"], options["since"]
        done: Counter[str] = Counter()
        try:
            done.update(recover(first_day(since) if since is not None else None, is_dry_run=is_dry_run))
            done.update(erased_again(is_dry_run=is_dry_run))
        except StorageError as error:
            raise CommandError(f"the storage can't be reached ({error}): run it again") from None
        finally:
            for what, count in sorted(done.items()):
                self.print(f"{count} {what}")
        if not is_dry_run:
            if done:
                record(Action.CHANGED, kind="restored database", done=dict(done))
            self.print(f"{reconcile().total()} labels reconciled")
        if done[UNREADABLE]:
            raise CommandError("put the missing key back into CREDENTIALS_KEYS, and run it again")


def erased_again(*, is_dry_run: bool) -> Counter[str]:
    """Repeat the journal's erasures; return the numbers of what was erased. Raise StorageError or CustomerError."""
    found: Counter[str] = Counter()
    for shop_id, parcels, labels in erasures.to_repeat():
        if not is_dry_run:
            Customer(shop_id, "", parcels, labels).remove()
        found.update({"parcels erased again": len(parcels), "labels erased again": len(labels)})
    return +found
