"""Creates a webhook endpoint."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from shops.management import base
from shops.staff.audit import changes
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.webhooks import endpoints
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.public_addresses import UrlError, check_url


class Command(base.Command):
    """Create a webhook endpoint of a shop and print its id. Its secret is shown only now, on standard error."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("url", metavar="URL")
        kinds = ", ".join(EVENT_TYPES)
        parser.add_argument("--event", action="append", default=[], metavar="TYPE", help=f"default: all of {kinds}")

    def handle(self, *args: Any, **options: Any) -> None:
        shop = base.find_shop(options["shop_id"])
        try:
            check_url(options["url"])
        except UrlError as error:
            raise CommandError(f"URL: {error}") from None
        wanted = list(dict.fromkeys(options["event"]))
        for event_type in wanted:
            if event_type not in EVENT_TYPES:
                raise CommandError(f"--event: {event_type!r} is none of {', '.join(EVENT_TYPES)}")
        with transaction.atomic():
            try:
                endpoint, secret = endpoints.create(shop=shop, url=options["url"], event_types=wanted)
            except endpoints.LimitError as error:
                raise CommandError(f"SHOP_ID: {error}") from None
            record(Action.ADDED, endpoint, changes=changes.of_new(endpoint, "url", "event_types"))
            self.print(endpoint.id)
            self.stderr.write(f"Its secret is {secret} - keep it; it is not shown again.")
