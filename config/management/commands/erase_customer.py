"""Erases a shop's customer on request."""

from typing import Any

from django.core.management.base import CommandParser

from config.customers import Customer
from shops.management import base


class Command(base.CustomerCommand):
    """Erase a customer from the shop's parcels and labels, and remove their PDFs; print the number of each.

    Parcels that had EMAIL earlier are found too, and all of the same orders and with the same numbers. A later
    import of a parcel brings the customer back.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would be erased")

    def handle(self, *args: Any, **options: Any) -> None:
        customer = Customer.find(options["shop_id"], options["email"])
        for line in customer.search() if options["dry_run"] else customer.erase():
            self.print(line)
