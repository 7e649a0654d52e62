"""psycopg's connection with a timeout for each answer, which ends with the thread that opened it."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors

from config.postgresql.hosts import Host, Hosts


@dataclass
class AnswerTimeout:
    """The longest wait for an answer, shared by the connections that a thread opens; None waits for ever."""

    seconds: float | None = None


class Connection(psycopg.Connection[Any]):
    """Waits for the answer to a statement no longer than its `answer_timeout`, and knows when it is lost.

    The server's own timeout ends a slow statement. This one is for a server that is frozen or unreachable: nothing
    else ends the wait for it, as its kernel may well acknowledge what it is sent.
    """

    answer_timeout = AnswerTimeout()
    hosts: Hosts | None = None
    # The server was a primary and now refuses to write, or a migration changed columns of prepared statements.
    is_outdated = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connected_at = time.monotonic()
        self.host: Host = (self.info.host, str(self.info.port))

    def wait_for_answer(self, timeout_s: float) -> None:
        """Raise psycopg.OperationalError, and close, unless the server answers in time."""
        self.answer_timeout, usual = AnswerTimeout(timeout_s), self.answer_timeout
        try:
            self.autocommit = True
            self.execute("SELECT 1", prepare=False)
        except BaseException:
            self.close()
            raise
        self.answer_timeout = usual

    @property
    def is_lost(self) -> bool:
        """True if the next statement would fail: it is outdated, or its host has fallen silent since."""
        return self.is_outdated or (self.hosts is not None and self.hosts.is_lost(self.host, self.connected_at))

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.answer_timeout.seconds)
        except errors._WaitTimeout:
            self.pgconn.finish()  # `close` might wait for the server once more
            if self.hosts:
                self.hosts.note_silence(self.host)
            raise psycopg.OperationalError("the database did not answer in time") from None
        except (errors.ReadOnlySqlTransaction, errors.FeatureNotSupported):
            self.is_outdated = True
            raise


class ThreadConnections:
    """The connections that a thread has opened; closes them when the thread ends.

    Django's wrapper is in a reference cycle, so without this they would stay open until the garbage collector finds it.
    """

    def __init__(self) -> None:
        self.opened_in = os.getpid()
        self.connections: list[Connection] = []

    def add(self, connection: Connection) -> None:
        self.connections = [each for each in self.connections if not each.closed] + [connection]

    def __del__(self, process_id: Callable[[], int] = os.getpid) -> None:  # a default is there at exit, too
        if process_id() == self.opened_in:  # a forked child would end its parent's
            for each in self.connections:
                each.close()


class ThisThread(threading.local):
    """The connections of the thread that asks; made with its first connection, dropped when it ends."""

    def __init__(self) -> None:
        self.connections = ThreadConnections()


this_thread = ThisThread()
