"""Names a database's failure by its SQLSTATE; never by its text, which may quote a customer's data."""

import re
from collections.abc import Iterator
from typing import Final

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, ProgrammingError

DATABASE_ERRORS: Final = (DatabaseError, InterfaceError)
# What the statement itself is wrong about: the same one fails again.
PERMANENT_ERRORS: Final = (DataError, IntegrityError, ProgrammingError)
MEANINGS: Final = {
    "08001": "no TLS as sslmode asks",
    "08004": "needs ?pgbouncer=true",
    "28P01": "wrong password",
    "28000": "role not allowed",
    "3D000": "no such database",
    "53100": "disk full",
    "53300": "too many connections",
    "55P03": "locked by another process",
    "57P03": "not accepting connections",
    "57014": "statement cancelled",
    "25006": "read-only",
    "42703": "migrations are pending",
    "42P01": "migrations are pending",
}
# libpq gives no SQLSTATE of a connection that a server refuses, and says why in words.
REFUSALS: Final = (
    (re.compile("password authentication failed|no password supplied"), "28P01"),
    (re.compile('role ".*" does not exist|pg_hba.conf (entry|rejects)|is not permitted to log in'), "28000"),
    (re.compile('database ".*" does not exist'), "3D000"),
    (re.compile("too many clients|too many connections|connection slots are reserved"), "53300"),
    (re.compile("the database system is"), "57P03"),
    (re.compile("unsupported startup parameter"), "08004"),  # PgBouncer's
    (re.compile("certificate (verify|file|for)|sslmode|does not support SSL"), "08001"),
)


def reason(error: BaseException) -> str:
    """Name an exception by its type and, if a database raised it, its SQLSTATE and what that means."""
    name, state = type(error).__name__, sqlstate(error)
    if not state:
        return name
    return f"{name} {state} ({MEANINGS[state]})" if state in MEANINGS else f"{name} {state}"


def sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of an exception or of what caused it."""
    for each in chain(error):
        if state := getattr(each, "sqlstate", None):
            return str(state)
        if type(each).__module__.startswith("psycopg"):
            return next((state for text, state in REFUSALS if text.search(str(each))), None)
    return None


def is_away(error: BaseException) -> bool:
    """Return whether a statement failed because of the database's state, so that it may succeed later."""
    return isinstance(error, DATABASE_ERRORS) and not isinstance(error, PERMANENT_ERRORS)


def is_disk_full(error: BaseException) -> bool:
    """Return whether a database has no room to write: it has written nothing, and waiting for it is of no use."""
    return sqlstate(error) == "53100" or is_sqlites(error, "SQLITE_FULL")


def is_sqlites(error: BaseException, name: str) -> bool:
    return any(getattr(each, "sqlite_errorname", "") == name for each in chain(error))


def is_read_only(error: BaseException) -> bool:
    """Return whether a database takes no writes, as a standby does, or a primary that has become one."""
    return sqlstate(error) == "25006"


def is_servers_own(error: BaseException) -> bool:
    """Return whether PostgreSQL found a fault of its own, such as a damaged page."""
    return (sqlstate(error) or "").startswith("XX")


def is_timeout(error: BaseException) -> bool:
    """Return whether a statement took too long, as one does that waits for a row which another process holds.

    SQLite has one writer at a time, which holds all rows.
    """
    return sqlstate(error) in {"55P03", "57014"} or is_sqlites(error, "SQLITE_BUSY")


def lacks_migrations(error: BaseException) -> bool:
    """Return whether a database has no such table or column: its tables are those of an earlier version."""
    return sqlstate(error) in {"42703", "42P01"}


def is_deadlock(error: BaseException) -> bool:
    """Return whether a transaction was undone to let another one go on, which writes the same rows in another order."""
    return sqlstate(error) == "40P01"


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
