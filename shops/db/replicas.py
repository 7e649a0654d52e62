"""Reads that a replica may answer, and how long the primary is waited for where one can."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections

PRIMARY, REPLICA = DEFAULT_DB_ALIAS, "replica"
UNREACHABLE = (OperationalError, InterfaceError)
# How long the primary may take to answer what a replica can be asked instead.
PRIMARY_TIMEOUT_S = 1.0
T = TypeVar("T")


def is_configured() -> bool:
    return REPLICA in connections.settings


def read(query: Callable[[str], T]) -> T:
    """Run a query, which takes a database's alias, on a replica; on the primary where none answers or there is none.

    Where the connection was lost, another replica is asked first.
    """
    if not is_configured():
        return query(PRIMARY)
    replica = connections[REPLICA]
    with suppress(*UNREACHABLE):
        return query(REPLICA)
    if replica.connection is not None and not replica.is_usable():
        replica.close()
        with suppress(*UNREACHABLE):
            return query(REPLICA)
    return query(PRIMARY)


def bounded_wait() -> AbstractContextManager[None]:
    """Wait for the primary no longer than `PRIMARY_TIMEOUT_S` a statement in this block, if there is a replica."""
    within = getattr(connections[PRIMARY], "within", None)  # only our PostgreSQL backend's has it
    return within(PRIMARY_TIMEOUT_S) if within and is_configured() else nullcontext()
