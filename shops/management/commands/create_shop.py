"""Creates a shop."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import IntegrityError, transaction

from shops.management import base
from shops.models import Shop, identifier
from shops.staff.audit import changes
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class Command(base.Command):
    """Create a shop and print its id."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--id", help="1 to 64 letters, digits, hyphens and underscores; default: a new one")
        parser.add_argument(
            "--test",
            action="store_true",
            help="for good: its carriers are the sandbox (SANDBOX_URL), it is not counted",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["test"] and not settings.SANDBOX_URL:
            raise CommandError("--test: there is no sandbox; set SANDBOX_URL to the address of a carrier_sandbox")
        shop = Shop(name=options["name"].strip(), is_test=options["test"])
        if options["id"] == "":  # Django skips the validation of empty values
            raise CommandError(f"id: {identifier.message}")
        if options["id"] is not None:
            shop.id = options["id"]
        if shop.id.startswith("-"):
            raise CommandError("id: must not begin with a hyphen, as an option does")
        try:
            shop.full_clean(validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            faults = [f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items()]
            raise CommandError(" ".join(faults)) from error
        with transaction.atomic():
            try:
                shop.save(force_insert=True)
            except IntegrityError:
                raise CommandError(f"id: there is a shop {shop.id!r} already") from None
            record(Action.ADDED, shop, changes=changes.of_new(shop, "name", "is_test"))
            self.print(shop.id)
