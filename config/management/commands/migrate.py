"""Django's migrate, which several hosts may run at once: the first one works, the others wait and find it done."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

LOCK = 5_263_710_946  # any number that nothing else in the database locks
ASK_AGAIN_S = 0.2


class Command(migrate.Command):
    """``migrate``."""

    def handle(self, *args: Any, **options: Any) -> None:
        with advisory_lock(connections[options["database"]]):
            super().handle(*args, **options)


@contextmanager
def advisory_lock(database: BaseDatabaseWrapper) -> Iterator[None]:
    """Hold PostgreSQL's advisory lock on a connection that does nothing else; SQLite locks its file by itself.

    The lock is a transaction's: a session's would stay behind in PgBouncer, on a connection that others use. CREATE
    INDEX CONCURRENTLY waits for whoever has a snapshot, so nobody here may: the lock is not waited for in a statement,
    but asked for again and again, and in the simple protocol, which leaves no portal open with a snapshot in it.
    """
    if database.vendor != "postgresql":
        yield
        return
    lock = database.copy()
    lock.settings_dict["OPTIONS"]["prepare_threshold"] = None
    try:
        lock.set_autocommit(False)
        while not is_locked(lock):
            lock.rollback()
            time.sleep(ASK_AGAIN_S)
        yield
    finally:
        lock.close()


def is_locked(lock: BaseDatabaseWrapper) -> bool:
    with lock.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_xact_lock({LOCK})")
        return bool(cursor.fetchone()[0])
