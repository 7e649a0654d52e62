"""Runs the background process."""

import signal
from threading import Event, Thread
from typing import Any, Final

from config.ops import worker
from config.postgresql.base import DatabaseWrapper
from shops.management import base

ENDING: Final = {signal.SIGTERM, signal.SIGINT}


class Command(base.Command):
    """Runs any number of times at once, on any hosts."""

    help = (
        "Refresh tracking, deliver webhooks, reconcile labels, count figures, send e-mails and apply retention, each"
        " when due, until SIGTERM; then finish what has begun."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        DatabaseWrapper.lock_timeout_s = worker.LOCK_TIMEOUT_S
        stop = Event()
        # A handler would run in the main thread: just before its wait it wakes nothing, and within the event's lock it
        # waits for itself. All threads inherit the mask.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        Thread(target=stop_at_signal, args=(stop,), name="signals", daemon=True).start()
        worker.work(stop)


def stop_at_signal(stop: Event) -> None:
    signal.sigwait(ENDING)
    stop.set()
