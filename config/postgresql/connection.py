"""psycopg's connection with a timeout for each answer, which ends with the thread that opened it."""

import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg
from psycopg import errors
from psycopg.generators import execute
from psycopg.pq import ExecStatus, TransactionStatus

from config.postgresql.hosts import Host, Hosts

name_numbers = count()


@dataclass
class AnswerTimeout:
    """The longest wait for an answer, shared by the connections that a thread opens; None waits for ever."""

    seconds: float | None = None


class Pipeline(psycopg.Pipeline):
    """A pipeline that ends with a sync alone, after which the server bounds the wait in a transaction as usual.

    A flush request after the sync would end that: ``idle_in_transaction_session_timeout`` counts from a sync's answer
    to the next message.
    """

    def _fetch_gen(self, *, flush: bool) -> Generator[Any, Any, None]:
        is_synced = None in self.result_queue
        yield from super()._fetch_gen(flush=flush and not is_synced)


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
        self.names: dict[str, bytes] = {}  # of statements that are prepared

    def first_column(self, sql: str, values: Sequence[str]) -> list[bytes]:
        """Read the first column of a query's rows as text in UTF-8."""
        found: list[bytes]
        with self.lock:
            try:
                found = self.wait(self.reading(sql, values))
            except errors.InvalidSqlStatementName:  # psycopg lets the server forget all names after a rollback
                self.names.clear()
                found = self.wait(self.reading(sql, values))
        return found

    def reading(self, sql: str, values: Sequence[str]) -> Generator[Any, Any, list[bytes]]:
        parameters = [value.encode() for value in values]
        if self.prepare_threshold is None or self.info.transaction_status != TransactionStatus.IDLE:
            self.pgconn.send_query_params(numbered(sql), parameters)
        else:
            if sql not in self.names:
                name = b"hot_%d" % next(name_numbers)
                self.pgconn.send_prepare(name, numbered(sql))
                yield from self.result()
                self.names[sql] = name
            self.pgconn.send_query_prepared(self.names[sql], parameters)
        found = yield from self.result()
        return [found.get_value(row, 0) or b"" for row in range(found.ntuples)]

    def result(self) -> Generator[Any, Any, Any]:
        [*_, result] = yield from execute(self.pgconn)
        if result.status not in {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}:
            raise errors.error_from_result(result)
        return result

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        self._pipeline = self._pipeline or Pipeline(self)
        with super().pipeline() as pipeline:
            yield pipeline

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
        except errors._WaitTimeout:  # noqa: SLF001 - the documentation of `wait` names it
            self.pgconn.finish()  # `close` might wait for the server once more
            if self.hosts:
                self.hosts.note_silence(self.host)
            raise psycopg.OperationalError("the database did not answer in time") from None
        except (errors.ReadOnlySqlTransaction, errors.FeatureNotSupported):
            self.is_outdated = True
            raise


def numbered(sql: str) -> bytes:
    """Return a statement with PostgreSQL's own placeholders: $1 and so on."""
    numbers = count(1)
    return re.sub("%s", lambda _: f"${next(numbers)}", sql).encode()


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
