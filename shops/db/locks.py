"""Advisory locks: one holder at a time, until the transaction ends; no row is locked for it."""

from django.db import connection

from shops.db.prepared import send


def lock(name: str) -> None:
    """Wait for the lock of this name, within a pipeline at its next answer; SQLite has one writer anyway."""
    assert connection.in_atomic_block, "the lock is held until the transaction ends"
    if connection.vendor == "postgresql":
        send("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
