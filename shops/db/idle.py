"""Lets go of a thread's database connection while the thread waits for something else for long."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def connection_released_after(seconds: float) -> Iterator[None]:
    """Keep this thread's connection through a short block, and end it in the middle of a long one.

    The block uses no database. A call that hangs must not hold a connection that look-ups need.
    """
    held = connection.connection if connection.vendor == "postgresql" else None
    release = threading.Timer(seconds, held.close) if held else None
    if release:
        release.start()
    try:
        yield
    finally:
        if held and release:
            release.cancel()
            release.join()
            # The server may have ended it meanwhile.
            connection.health_check_done = False  # type: ignore[attr-defined]  # the types leave it out
            if held.closed:
                connection.close()
