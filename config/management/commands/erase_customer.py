"""Erases a shop's customer on request."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from config.management.customer import CustomerCommand
from labels.pdfs.storage import StorageError
from labels.personal_data import erasure as label_erasure
from parcels.importing.numbers import lock_imports
from parcels.personal_data import erasure as parcel_erasure
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class Command(CustomerCommand):
    """``erase_customer SHOP_ID EMAIL [--dry-run]``.

    PDFs go first, then all rows in one transaction: a run that is killed in between can be repeated, as the rows
    still have the e-mail. `parcels.personal_data` and `labels.personal_data` say which data is kept, and why.
    """

    help = (
        "Erase a customer from the shop's parcels and labels, and remove their PDFs; print the number of each. "
        "Parcels that had EMAIL earlier are found too, and all of the same orders and with the same numbers. A later "
        "import of a parcel brings the customer back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be erased")

    def handle(self, *args: Any, **options: Any) -> None:
        parcels, labels = self.find(**options)
        if waiting := label_erasure.not_over(labels):
            raise CommandError(f"nothing was changed: settle or decide these labels first: {', '.join(waiting)}")
        counts = (
            (len(parcels), len(labels), len(list(label_erasure.with_pdf(labels))))
            if options["dry_run"]
            else erase(options["shop_id"], parcels, labels)
        )
        if not options["dry_run"]:
            removed: dict[str, Any] = dict(zip(("parcels", "labels", "pdfs"), counts, strict=True))
            customer = {"shop_id": options["shop_id"], "customer_email": options["email"]}
            record(Action.REMOVED, **customer, kind="customer", **removed)
        for count, what in zip(counts, ("parcels", "labels", "PDFs"), strict=True):
            self.print(f"{count} {what}")


def erase(shop_id: str, parcels: list[str], labels: list[str]) -> tuple[int, int, int]:
    """Erase all of it; return the number of parcels, labels and PDFs. Raise CommandError."""
    try:
        pdfs = sum(map(label_erasure.remove_pdf, label_erasure.with_pdf(labels)))
    except StorageError as error:
        raise CommandError(
            f"the storage can't be reached ({error}): only some PDFs were removed; run it again"
        ) from None
    with transaction.atomic():
        lock_imports(shop_id)
        return parcel_erasure.erase(parcels), label_erasure.erase(labels), pdfs
