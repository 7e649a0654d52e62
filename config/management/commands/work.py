"""Runs the background process."""

import signal
from threading import Event, Thread
from typing import Any, Final

from django.core.management.base import CommandError

from config.ops import worker
from config.ops.serving import ServingError
from shops.management import base

ENDING: Final = {signal.SIGTERM, signal.SIGINT}


class Command(base.Command):
    """``work``: any number at once, on any hosts."""

    help = (
        "Refresh tracking, deliver webhooks, reconcile labels and apply retention, each when due, until SIGTERM; then"
        " finish what has begun."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Event()
        # A handler would run in the main thread: just before its wait it wakes nothing, and within the event's lock it
        # waits for itself. All threads inherit the mask.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        Thread(target=stop_at_signal, args=(stop,), name="signals", daemon=True).start()
        try:
            worker.work(stop)
        except ServingError as error:
            raise CommandError(str(error)) from None


def stop_at_signal(stop: Event) -> None:
    signal.sigwait(ENDING)
    stop.set()
