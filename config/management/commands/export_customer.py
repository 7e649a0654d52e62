"""Exports all that is held of a shop's customer, which is what `erase_customer` would erase."""

from typing import Any

import orjson

from config.customers import Customer
from shops.management import base


class Command(base.CustomerCommand):
    """Print all that is held of a shop's customer as JSON: parcels, their tracking, labels, and PDFs' names."""

    def handle(self, *args: Any, **options: Any) -> None:
        customer = Customer.find(options["shop_id"], options["email"])
        self.print(orjson.dumps(customer.held(), option=orjson.OPT_INDENT_2).decode())
