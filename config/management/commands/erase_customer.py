"""Erases a shop's customer on request."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from labels import erasure as label_erasure
from labels import parcels as label_parcels
from labels.storage import StorageError
from parcels import erasure as parcel_erasure
from shops.management import base


class Command(base.Command):
    """``erase_customer SHOP_ID EMAIL [--dry-run]``.

    PDFs go first, then all rows in one transaction: a run that is killed in between can be repeated, as the rows
    still have the e-mail. `parcels.erasure` and `labels.erasure` say which data is kept, and why.
    """

    help = (
        "Erase a customer from the shop's parcels and labels, and remove their PDFs; print the number of each. "
        "Parcels that had EMAIL earlier are found too. A later import of a parcel brings the customer back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("email", metavar="EMAIL", help="upper and lower case make no difference")
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be erased")

    def handle(self, *args: Any, **options: Any) -> None:
        shop_id, email = options["shop_id"], options["email"]
        base.find_shop(shop_id)
        if not email.strip():
            raise CommandError("EMAIL: needs an e-mail address")
        parcels = parcel_erasure.parcels_of(shop_id, email)
        labels = label_erasure.labels_of(shop_id, email, parcels.values())
        parcels |= dict.fromkeys(label_parcels.parcels_of(labels), "")
        if waiting := label_erasure.not_over(labels):
            raise CommandError(f"nothing was changed: settle or decide these labels first: {', '.join(waiting)}")
        counts = (
            (len(parcels), len(labels), len(list(label_erasure.with_pdf(labels))))
            if options["dry_run"]
            else erase(parcels, labels)
        )
        for count, what in zip(counts, ("parcels", "labels", "PDFs"), strict=True):
            self.print(f"{count} {what}")


def erase(parcels: dict[str, str], labels: list[str]) -> tuple[int, int, int]:
    """Erase all of it; return the number of parcels, labels and PDFs. Raise CommandError."""
    try:
        pdfs = sum(map(label_erasure.remove_pdf, label_erasure.with_pdf(labels)))
    except StorageError as error:
        raise CommandError(
            f"the storage can't be reached ({error}): only some PDFs were removed; run it again"
        ) from None
    with transaction.atomic():
        return parcel_erasure.erase(parcels), label_erasure.erase(labels), pdfs
