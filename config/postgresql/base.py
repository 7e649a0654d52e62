"""Django's PostgreSQL backend for servers that fail over, fall silent and come back; and a cheaper health check."""

import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import models
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from django.utils.functional import cached_property

from config.postgresql.connection import Connection, Patience
from config.postgresql.hosts import Host, Hosts, hosts_of
from shops.db.fields import ByCodePoint

# How much later than the server this side gives a statement up: a server that can still say so does.
GRACE_S = 0.5
# How long a database that was away may take for the first answer that says that it is back.
PROBE_S = 1.0


class SchemaEditor(DatabaseSchemaEditor):
    """Makes no second index for LIKE on a column whose first one, in code point order, serves that too."""

    def _create_like_index_sql(self, model: type[models.Model], field: "models.Field[Any, Any]") -> Any:
        return None if isinstance(field, ByCodePoint) else super()._create_like_index_sql(model, field)  # type: ignore[misc]  # the types leave it out


class DatabaseWrapper(base.DatabaseWrapper):
    """Tries several hosts in the order in which they are worth it, and bounds what a request waits for.

    Takes three options beside libpq's: ``timeout`` (seconds, for a statement of a request), ``pgbouncer`` (nothing
    may be set when connecting) and ``load_balance_hosts=random``, as libpq's own, with a memory of who failed.
    """

    SchemaEditorClass = SchemaEditor
    connection: Connection | None
    # Whether statements are bounded: those of a server's requests are, a migration's or an import's are not.
    is_serving = False

    @cached_property
    def hosts(self) -> Hosts:
        """What the process knows of this database's hosts."""
        params = super().get_connection_params()
        is_balanced = params.get("load_balance_hosts") == "random"
        return hosts_of(self.alias, str(params.get("host", "")), str(params.get("port", "")), is_balanced=is_balanced)

    @property
    def timeout_s(self) -> float | None:
        return self.settings_dict["OPTIONS"].get("timeout") if self.is_serving else None

    @cached_property
    def patience(self) -> Patience:
        return Patience(self.timeout_s + GRACE_S if self.timeout_s else None)

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        for ours in ("load_balance_hosts", "timeout"):
            params.pop(ours, None)
        is_pooled = params.pop("pgbouncer", False)
        if self.timeout_s and not is_pooled:
            params["options"] = f"{params.get('options', '')} {server_timeouts(self.timeout_s)}".strip()
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        self.isolation_level = IsolationLevel.READ_COMMITTED
        with self.hosts.attempt():
            order = self.hosts.order()
            connection = Connection.connect(**conn_params | libpq_hosts(order))
            connection.patience = self.patience
            if self.hosts.is_doubtful:  # a pooler lets everybody in, whether or not there is a server behind it
                connection.wait_for_answer(PROBE_S)
            connection.hosts = self.hosts
            self.hosts.note_success(connection.host, order)
        return connection

    def is_usable(self) -> bool:
        """Ask the server ``SELECT 1`` only when something lies unread on the connection.

        A server that ended the connection (a restart, a failover) has sent its farewell or at least the end of the
        stream, so an idle socket with nothing to read is alive as far as this side can know.
        """
        if self.connection is None or self.connection.closed or self.connection.is_given_up:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()

    @contextmanager
    def within(self, timeout_s: float) -> Iterator[None]:
        """Give the statements of a block less time than a request's usually have; a command's take what they take."""
        usual_s = self.patience.timeout_s
        if usual_s:
            self.patience.timeout_s = min(timeout_s, usual_s)
        try:
            yield
        finally:
            self.patience.timeout_s = usual_s


def server_timeouts(timeout_s: float) -> str:
    """What the server itself ends: a statement that takes long, and a transaction whose client has stopped."""
    milliseconds = int(timeout_s * 1000)
    return f"-c statement_timeout={milliseconds} -c idle_in_transaction_session_timeout={2 * milliseconds}"


def libpq_hosts(order: list[Host]) -> dict[str, str]:
    """Several hosts as libpq takes them; a single one stays as it was given."""
    if len(order) == 1:
        return {}
    return {"host": ",".join(name for name, _ in order), "port": ",".join(port for _, port in order)}
