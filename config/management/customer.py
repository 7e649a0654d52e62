"""The commands about a shop's customer, who is found by e-mail."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from labels import erasure as label_erasure
from labels.lifecycle import parcels as label_parcels
from parcels import erasure as parcel_erasure
from shops.management import base


class CustomerCommand(base.Command):
    """Takes SHOP_ID and EMAIL, and finds all that is held of the customer."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("email", metavar="EMAIL", help="upper and lower case make no difference")

    def find(self, shop_id: str, email: str, **options: Any) -> tuple[dict[str, str], list[str]]:
        """Return the parcels, with the order's id where the e-mail finds one, and the labels; raise CommandError."""
        base.find_shop(shop_id)
        if not email.strip():
            raise CommandError("EMAIL: needs an e-mail address")
        parcels = parcel_erasure.parcels_of(shop_id, email)
        labels = label_erasure.labels_of(shop_id, email, parcels.values())
        return parcels | dict.fromkeys(label_parcels.parcels_of(labels), ""), labels
