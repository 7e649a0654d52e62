"""psycopg's connection with an end to its patience."""

import time
from typing import Any

import psycopg
from psycopg import errors

from config.postgresql.hosts import Host, Hosts


class Patience:
    """How long an answer is waited for, in seconds, on whichever connection a thread has; None waits for ever."""

    def __init__(self, timeout_s: float | None = None) -> None:
        self.timeout_s = timeout_s


class Connection(psycopg.Connection[Any]):
    """Waits no longer than its `patience` for the answer to a statement, and knows when it should be used no more.

    The server's own time-out ends a statement that takes long. This one is for a server that is frozen or can't be
    reached any more: nothing else ends the wait for it, as its kernel may well acknowledge what it is sent.
    """

    patience = Patience()
    hosts: Hosts | None = None
    is_read_only = False  # the server was a primary when it was connected to, and is one no more

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connected_at = time.monotonic()
        self.host: Host = (self.info.host, str(self.info.port))

    def wait_for_answer(self, timeout_s: float) -> None:
        """Raise psycopg.OperationalError, and close, unless the server answers now."""
        self.patience, usual = Patience(timeout_s), self.patience
        try:
            self.autocommit = True
            self.execute("SELECT 1", prepare=False)
        except BaseException:
            self.close()
            raise
        self.patience = usual

    @property
    def is_given_up(self) -> bool:
        """Whether it would fail, as others to this host have, or as it has itself."""
        return self.is_read_only or (self.hosts is not None and self.hosts.is_lost(self.host, self.connected_at))

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.patience.timeout_s)
        except errors._WaitTimeout:
            self.pgconn.finish()  # `close` might wait for the server once more
            if self.hosts:
                self.hosts.note_silence(self.host)
            raise psycopg.OperationalError("the database did not answer in time") from None
        except errors.ReadOnlySqlTransaction:
            self.is_read_only = True
            raise
