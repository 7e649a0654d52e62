"""Django's PostgreSQL backend with fail-over between hosts, bounded waits and a cheaper health check."""

import os
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from django.db import models, transaction
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from django.utils.functional import cached_property

from config.postgresql.connection import AnswerTimeout, Connection, this_thread
from config.postgresql.hosts import Hosts, hosts_of
from shops.db.fields import ByCodePoint

# The client's timeout exceeds the server's by this much, so that a server that still works ends the statement itself.
GRACE_S = 0.5
# The time limit for the first answer of a database that was unreachable.
PROBE_TIMEOUT_S = 1.0
# What was paid for survives a crash and a failover, whatever the database's default; a stricter setting stays.
RAISE_DURABILITY = """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local')
"""
# PostgreSQL's settings that are the same for its side of a connection, by libpq's parameters.
LIVENESS = {f"keepalives_{name}": f"tcp_keepalives_{name}" for name in ("idle", "interval", "count")} | {
    "tcp_user_timeout": "tcp_user_timeout"
}
# A limit of the role's or the database's is for requests; one that is given to the command stays.
LIFT_TIMEOUT = """
    SELECT set_config('statement_timeout', '0', false) FROM pg_settings
    WHERE name = 'statement_timeout' AND source <> 'client'
"""
# All statements behind one that waits for a table's lock wait too. An operator's own limit stays.
LIMIT_LOCK_WAIT = "SELECT set_config('lock_timeout', '5s', true) WHERE current_setting('lock_timeout') = '0'"
# A request reads little of large tables. Left alone, the planner joins all of them for a list that is capped.
ALONG_INDEXES = (
    "-c enable_hashjoin=off -c enable_mergejoin=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1"
)


class SchemaEditor(DatabaseSchemaEditor):
    """Gives up where a table stays locked; LIKE needs no second index of a column in code point order."""

    has_begun = False

    def __enter__(self) -> Self:
        super().__enter__()
        if self.atomic_migration and not self.collect_sql:
            super().execute(LIMIT_LOCK_WAIT, None)
        return self

    def execute(self, sql: Any, params: Any = ()) -> None:
        """Limit the first wait of a migration without a transaction too; after a later one it could not be repeated."""
        is_first, self.has_begun = not (self.atomic_migration or self.collect_sql or self.has_begun), True
        if not is_first or not str(sql).startswith("ALTER TABLE") or "VALIDATE CONSTRAINT" in str(sql):
            super().execute(sql, params)
            return
        with transaction.atomic(self.connection.alias):
            super().execute(LIMIT_LOCK_WAIT, None)
            super().execute(sql, params)

    def _create_like_index_sql(self, model: type[models.Model], field: "models.Field[Any, Any]") -> Any:
        return None if isinstance(field, ByCodePoint) else super()._create_like_index_sql(model, field)  # type: ignore[misc]  # the types leave it out


class DatabaseWrapper(base.DatabaseWrapper):
    """Connects to the most promising of several hosts, and bounds the time that a request waits for the database.

    Takes three options beside libpq's: ``timeout`` (seconds for a statement of a request), ``pgbouncer`` (connecting
    sets no parameters) and ``load_balance_hosts=random``, which works as libpq's own but tries failed hosts last.
    """

    SchemaEditorClass = SchemaEditor
    connection: Connection | None
    # Only the statements of a server's requests are bounded, not those of a migration or an import.
    is_serving = False
    # Of the background process: what another process locks for long, such as an import, is left for later.
    lock_timeout_s: int | None = None

    @cached_property
    def hosts(self) -> Hosts:
        """The process's shared state of this database's hosts."""
        params = super().get_connection_params()
        is_balanced = params.get("load_balance_hosts") == "random"
        return hosts_of(self.alias, str(params.get("host", "")), str(params.get("port", "")), is_balanced=is_balanced)

    @property
    def timeout_s(self) -> float | None:
        return self.settings_dict["OPTIONS"].get("timeout") if self.is_serving else None

    @cached_property
    def answer_timeout(self) -> AnswerTimeout:
        return AnswerTimeout(self.timeout_s + GRACE_S if self.timeout_s else None)

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        for ours in ("load_balance_hosts", "timeout"):
            params.pop(ours, None)
        is_pooled = params.pop("pgbouncer", False)
        if is_pooled:
            return params
        # Or it would hold the locks of a host that is gone, in the middle of a transaction, for two hours.
        options = [f"-c {ours}={params[name]}" for name, ours in LIVENESS.items() if name in params]
        if self.lock_timeout_s:
            options.append(f"-c lock_timeout={self.lock_timeout_s}s")
        options.append(params.get("options") or os.environ.get("PGOPTIONS", ""))  # libpq reads it only without any
        if self.timeout_s:
            # For a slow statement, and for a transaction whose client has stopped.
            slow_ms = int(self.timeout_s * 1000)
            timeouts = f"-c statement_timeout={slow_ms} -c idle_in_transaction_session_timeout={2 * slow_ms}"
            options = [ALONG_INDEXES, *options, timeouts]
        return params | {"options": " ".join(options)}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        self.isolation_level = IsolationLevel.READ_COMMITTED
        with self.hosts.attempt():
            order = self.hosts.order()
            names, ports = (",".join(each) for each in zip(*order, strict=True))
            several = {"host": names, "port": ports} if len(order) > 1 else {}  # a single one stays as it is configured
            connection = Connection.connect(**conn_params | several)
            this_thread.connections.add(connection)
            connection.answer_timeout = self.answer_timeout
            if self.hosts.is_circuit_open:  # a pooler accepts connections even when its server is gone
                connection.wait_for_answer(PROBE_TIMEOUT_S)
            connection.hosts = self.hosts
            self.hosts.note_success(connection.host, order)
        return connection

    def init_connection_state(self) -> None:
        super().init_connection_state()
        assert self.connection is not None
        self.connection.execute(RAISE_DURABILITY, prepare=False)
        if not self.is_serving and not self.settings_dict["OPTIONS"].get("pgbouncer"):
            self.connection.execute(LIFT_TIMEOUT, prepare=False)

    def set_autocommit(self, autocommit: bool, *args: Any, **kwargs: Any) -> None:  # noqa: FBT001 - Django's signature
        """Leave it to the next connection, which begins so, if a transaction has lost this one.

        Django would connect at once, and raise what comes of that in place of the loss.
        """
        if self.connection is not None or not autocommit:
            super().set_autocommit(autocommit, *args, **kwargs)

    def is_usable(self) -> bool:
        """Send ``SELECT 1`` only if the connection has unread bytes.

        A server that ended the connection (a restart, a failover) has sent a last message or at least the end of the
        stream, so an idle socket with nothing to read is alive as far as the client can know.
        """
        if self.connection is None or self.connection.closed or self.connection.is_lost:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()

    def first_column(self, sql: str, values: Sequence[str]) -> list[bytes]:
        """Read a hot query's first column without a cursor: psycopg's and Django's cost five times as much."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        assert self.connection is not None
        with self.wrap_database_errors:
            return self.connection.first_column(sql, values)

    @contextmanager
    def shorter_timeout(self, timeout_s: float) -> Iterator[None]:
        """Shorten the timeout of a request's statements in a block; commands stay unbounded."""
        usual_s = self.answer_timeout.seconds
        if usual_s:
            self.answer_timeout.seconds = min(timeout_s, usual_s)
        try:
            yield
        finally:
            self.answer_timeout.seconds = usual_s
