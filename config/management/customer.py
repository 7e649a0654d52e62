"""The base of the commands about a shop's customer."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.customers import Customer, CustomerError
from shops.management import base


class CustomerCommand(base.Command):
    """Takes SHOP_ID and EMAIL."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("email", metavar="EMAIL", help="upper and lower case make no difference")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.act(Customer.find(options["shop_id"], options["email"]), **options)
        except CustomerError as error:
            raise CommandError(str(error)) from error.__cause__

    def act(self, customer: Customer, **options: Any) -> None:
        """Do what the command is for; raise CustomerError."""
        raise NotImplementedError
