"""Revokes an access token."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from shops.api.authentication import TOKEN_CACHE_TTL_S
from shops.management import base
from shops.models import AccessToken
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class Command(base.Command):
    help = f"Revoke an access token, given its text or its id. It takes effect within {TOKEN_CACHE_TTL_S} seconds."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("token_or_id", metavar="TOKEN_OR_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            token = AccessToken.objects.find(options["token_or_id"])
        except AccessToken.DoesNotExist:
            raise CommandError("TOKEN_OR_ID: there is no such token") from None
        with transaction.atomic():
            revoked = AccessToken.objects.filter(id=token.id).revoke()
            if revoked:
                record(Action.CHANGED, token, note="Revoked.")
            self.stderr.write(f"Token {token.id} {'is revoked' if revoked else 'was revoked before'}.")
