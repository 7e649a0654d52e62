"""Reads from a replica, and a shorter timeout for the primary where a replica can stand in."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections

PRIMARY, REPLICA = DEFAULT_DB_ALIAS, "replica"
UNREACHABLE = (OperationalError, InterfaceError)
# The primary's timeout for a statement that a replica could answer instead.
PRIMARY_TIMEOUT_S = 1.0
T = TypeVar("T")


def is_configured() -> bool:
    return REPLICA in connections.settings


def read(query: Callable[[str], T]) -> T:
    """Run a query, which takes a database's alias, on a replica; on the primary if there is none or none answers.

    If the connection was lost, another replica is tried first. If nothing is found, the primary is asked too, where it
    answers: the replica may not have it yet.
    """
    if not is_configured():
        return query(PRIMARY)
    replica = connections[REPLICA]
    for _ in range(2):
        with suppress(*UNREACHABLE):
            found = query(REPLICA)
            if not found:
                with suppress(*UNREACHABLE), shorter_primary_timeout():
                    return query(PRIMARY)
            return found
        if replica.connection is None or replica.is_usable():
            break
        replica.close()
    return query(PRIMARY)


def shorter_primary_timeout() -> AbstractContextManager[None]:
    """Wait at most `PRIMARY_TIMEOUT_S` for each statement on the primary in this block, if there is a replica."""
    shorter_timeout = getattr(connections[PRIMARY], "shorter_timeout", None)  # only our PostgreSQL backend has it
    return shorter_timeout(PRIMARY_TIMEOUT_S) if shorter_timeout and is_configured() else nullcontext()
