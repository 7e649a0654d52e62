"""Sets a shop's own sender address."""

from codecs import BOM_UTF8
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from carriers import CARRIERS
from carriers.errors import Rejected
from carriers.validation import SENDER
from shops.addresses import AddressSerializer, party
from shops.audit.models import Action
from shops.audit.recording import record
from shops.management import base
from shops.serializer_fields import describe_faults


class Command(base.Command):
    """``set_sender_address SHOP_ID FILE``."""

    help = "Set the address that labels are sent from if an order has none."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument(
            "file", metavar="FILE", help="a JSON object with originAddress's fields; - is standard input"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        shop = base.find_shop(options["shop_id"])
        address = read_address(options["file"])
        refusals = refusals_of(address)
        if len(refusals) == len(CARRIERS):
            raise CommandError(f"FILE: {next(iter(refusals.values()))}")
        changes = {"sender_address": [shop.sender_address, address]}
        shop.sender_address = address
        with transaction.atomic():
            shop.save(update_fields=["sender_address"])
            record(Action.CHANGED, shop, changes=changes)
        self.stderr.write(f"The sender address of shop {shop.id} is set.")
        for carrier, refusal in refusals.items():
            self.stderr.write(f"Labels of {carrier} can't be sent from it: {refusal}.")


def read_address(name: str) -> dict[str, str]:
    """Read and validate the address; raise CommandError."""
    with base.open_file(name) as file, base.file_errors(name):
        content = file.read()
    try:
        serializer = AddressSerializer(data=orjson.loads(content.removeprefix(BOM_UTF8)))
    except orjson.JSONDecodeError as error:
        raise CommandError(f"FILE: is not valid JSON: {error}") from None
    if not serializer.is_valid():
        raise CommandError(f"FILE: {describe_faults(serializer.errors)}")
    address: dict[str, str] = serializer.validated_data
    return address


def refusals_of(address: dict[str, str]) -> dict[str, str]:
    """Return, by carrier, the reason why it would refuse this sender in every order."""
    refusals = {}
    for code, carrier in CARRIERS.items():
        try:
            carrier.check_sender(party(address))
        except Rejected as error:
            refusals[code] = str(error).replace(f"{SENDER}.", "")
    return refusals
