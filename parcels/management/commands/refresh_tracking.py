"""Asks the carriers once about the parcels that are due: safe at any time, on any number of machines at once."""

from collections import Counter
from itertools import product
from threading import Event
from typing import Any

from django.core.management.base import CommandError, CommandParser

from carriers import TRACKERS
from parcels.tracking.refreshing import refresh
from shops.management import base


class Command(base.Command):
    """Ask the carriers about the parcels that are due; print how many were asked, by outcome on stderr."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--limit", type=int, metavar="N", help="parcels of each carrier and mode (default: all that are due)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        limit: int | None = options["limit"]
        if limit is not None and limit < 1:
            raise CommandError("--limit: needs 1 or more")
        outcomes: Counter[str] = Counter()
        for carrier_code, is_test in product(TRACKERS, (False, True)):
            outcomes += refresh(carrier_code, stop=Event(), limit=limit, is_test=is_test)
        for outcome, count in sorted(outcomes.items()):
            self.stderr.write(f"{count} {outcome}")
        self.print(str(outcomes.total()))
