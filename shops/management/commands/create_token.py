"""Creates an access token."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from shops.management import base
from shops.models import BREAKS, MAX_NAME_LENGTH, AccessToken
from shops.staff.audit import changes
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

MAX_DAYS = 36_500


class Command(base.Command):
    """Create an access token of a shop and print it. It is shown only now and can't be read again."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("--name", default="", help="what the token is used for")
        parser.add_argument("--expires-in-days", type=int, metavar="N", help="default: it does not expire")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["expires_in_days"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"--expires-in-days: needs 1 to {MAX_DAYS}")
        if len(options["name"]) > MAX_NAME_LENGTH:
            raise CommandError(f"--name: needs at most {MAX_NAME_LENGTH} characters")
        if BREAKS.search(options["name"]):
            raise CommandError("--name: needs one line, without control characters")
        shop = base.find_shop(options["shop_id"])
        expires_at = timezone.now() + timedelta(days=days) if days else None
        with transaction.atomic():
            token, secret = AccessToken.issue(shop=shop, name=options["name"], expires_at=expires_at)
            record(Action.ADDED, token, changes=changes.of_new(token, "name", "expires_at"))
            self.print(secret)
            told = f"That is token {token.id} of shop {shop.id}; it ends in {token.last_four}."
            self.stderr.write(f"{told} Keep it; it is not shown again.")
