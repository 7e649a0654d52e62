"""Writes that outlast a restart of the database, for what was paid for."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

# A database that restarts is waited for this long, when what it has to keep was paid for.
PATIENCE_S = 15.0
PAUSE_S = 0.25
DATABASE_ERRORS = (DatabaseError, InterfaceError)
T = TypeVar("T")


def persistently(write: Callable[[], T]) -> T:
    """Run a write, which does no harm when done twice, until it succeeds or PATIENCE_S have passed.

    A commit that raised may have been made all the same, so the write is made again rather than believed lost.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return write()
        except DATABASE_ERRORS:
            if time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(PAUSE_S)
