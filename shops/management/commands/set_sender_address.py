"""Sets a shop's own sender address."""

from codecs import BOM_UTF8
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from shops.api.request_body import ignored_header
from shops.contracts.addresses import AddressSerializer, SenderError, checked_sender
from shops.management import base
from shops.models import Shop
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

MAX_BYTES = 64 * 1024  # as the API takes of an order, which has two addresses


class Command(base.Command):
    """Set the address that labels are sent from if an order has none."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument(
            "file", metavar="FILE", help="a JSON object with originAddress's fields; - is standard input"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        shop = base.find_shop(options["shop_id"])
        try:
            data = read_json(options["file"])
            address, refusals = checked_sender(data)
        except SenderError as error:
            raise CommandError(f"FILE: {error}") from None
        with transaction.atomic():
            shop.refresh_from_db(from_queryset=Shop.objects.select_for_update(no_key=True))
            changes = {"sender_address": [shop.sender_address, address]}
            shop.sender_address = address
            shop.save(update_fields=["sender_address"])
            record(Action.CHANGED, shop, changes=changes)
            ignored = "".join(ignored_header(data, AddressSerializer()).values())
            named = f" Ignored, as no field of originAddress: {ignored}." if ignored else ""
            self.stderr.write(f"The sender address of shop {shop.id} is set.{named}")
            for carrier, refusal in refusals.items():
                self.stderr.write(f"Labels of {carrier} can't be sent from it: {refusal}.")


def read_json(name: str) -> Any:
    """Read the file; raise CommandError."""
    with base.open_file(name) as file, base.file_errors(name):
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise CommandError(f"FILE: needs at most {MAX_BYTES} bytes")
    try:
        return orjson.loads(content.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise CommandError(f"FILE: is not valid JSON: {error}") from None
