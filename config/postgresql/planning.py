"""Statements that PostgreSQL plans for their own values."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def planned_for_values() -> Iterator[None]:
    """Prepare no statement in a block.

    A statement that is prepared soon has one plan for all values. The best plan of a list depends on them: a status may
    be that of half the parcels or of none.
    """
    held = connection.connection if connection.vendor == "postgresql" else None
    if held is None:  # a new connection prepares too few statements in a request
        yield
        return
    usual, held.prepare_threshold = held.prepare_threshold, None
    try:
        yield
    finally:
        held.prepare_threshold = usual
