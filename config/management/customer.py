"""The commands about a shop's customer, who is found by e-mail, and from there by order and number."""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labels.personal_data import erasure as label_erasure
from parcels.personal_data import erasure as parcel_erasure
from shops.management import base
from shops.personal_data import Traces


class CustomerCommand(base.Command):
    """Takes SHOP_ID and EMAIL, and finds all that is held of the customer."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("email", metavar="EMAIL", help="upper and lower case make no difference")

    def find(self, shop_id: str, email: str, **options: Any) -> tuple[list[str], list[str]]:
        """Return the ids of the parcels and of the labels; raise CommandError."""
        base.find_shop(shop_id)
        if not (email := email.strip()):
            raise CommandError("EMAIL: needs an e-mail address")
        parcels = by_id(parcel_erasure.parcels_of(shop_id, email))
        labels = by_id(label_erasure.labels_of(shop_id, email))
        follow(shop_id, parcels, labels)
        return sorted(parcels), sorted(labels)


def follow(shop_id: str, parcels: dict[str, Traces], labels: dict[str, Traces]) -> None:
    """Add the parcels and labels of the same orders and with the same numbers, until there are no more."""
    orders: set[str] = set()
    numbers: set[str] = set()
    while True:
        found = [*parcels.values(), *labels.values()]
        new = {
            "order_ids": {each.order_id for each in found} - orders - {""},
            "numbers": {number for each in found for number in each.numbers} - numbers - {""},
        }
        if not any(new.values()):
            return
        orders |= new["order_ids"]
        numbers |= new["numbers"]
        parcels |= by_id(parcel_erasure.parcels_with(shop_id, **new))
        labels |= by_id(label_erasure.labels_with(shop_id, **new))


def by_id(found: Iterable[Traces]) -> dict[str, Traces]:
    return {each.id: each for each in found}
