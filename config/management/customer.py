"""The arguments of the commands about a shop's customer."""

from django.core.management.base import CommandParser

from shops.management import base


class CustomerCommand(base.Command):
    """Takes SHOP_ID and EMAIL."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("email", metavar="EMAIL", help="upper and lower case make no difference")
