"""Runs the background process."""

import signal
from threading import Event
from typing import Any

from django.core.management.base import CommandError

from config.ops import worker
from config.ops.serving import ServingError
from shops.management import base


class Command(base.Command):
    """``work``: any number at once, on any hosts."""

    help = (
        "Refresh tracking, deliver webhooks, reconcile labels and apply retention, each when due, until SIGTERM; then"
        " finish what has begun."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        try:
            worker.work(stop)
        except ServingError as error:
            raise CommandError(str(error)) from None
