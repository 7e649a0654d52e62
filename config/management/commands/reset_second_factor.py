"""Resets a lost second factor."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from config.login import factors
from shops.management import base


class Command(base.Command):
    """Remove a member of staff's second factors and recovery codes and end his sessions; print how many factors."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USERNAME")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            user = User.objects.get(username=options["username"])
        except User.DoesNotExist:
            raise CommandError("USERNAME: there is no such user") from None
        with transaction.atomic():
            self.print(str(factors.reset(user)))
