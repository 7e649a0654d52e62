"""Advisory locks of PostgreSQL, by name, for what no row stands for."""

from django.db import connection

from shops.db.prepared import Read, send


def lock(name: str, function: str = "pg_advisory_xact_lock") -> Read | None:
    """Ask for the advisory lock of this name, within a pipeline at its next answer; SQLite has one writer anyway."""
    assert connection.in_atomic_block, "the lock is held until the transaction ends"
    if connection.vendor != "postgresql":
        return None
    return send(f"SELECT {function}(hashtextextended(%s, 0))", [name])
