"""The PostgreSQL backend on real servers: fail-over, timeouts and dropped connections."""

import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from django.db import DatabaseError, OperationalError
from django.db.utils import ConnectionHandler, InternalError, NotSupportedError
from pytest_django import DjangoDbBlocker

from config import databases
from config.postgresql import base
from config.postgresql.base import DatabaseWrapper
from tests.support.proxies import Proxy
from tests.support.services import data_folder, postgresql
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = pytest.mark.real_services
Connect = Callable[..., DatabaseWrapper]
BOUND_S = 20.0  # far below an unbounded wait, even on a busy machine


class Server:
    """A PostgreSQL of its own behind a proxy."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.proxy = Proxy(parse_qs(urlsplit(url).query)["host"][0] + "/.s.PGSQL.5432")

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.proxy.port}"

    def set_read_only(self, *, is_on: bool) -> None:
        """Make it look like a standby, or a primary again, to open connections too."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {is_on}")
            connection.execute("SELECT pg_reload_conf()")
        until(lambda: self.is_read_only is is_on)

    @property
    def is_read_only(self) -> bool:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SHOW default_transaction_read_only").fetchone()
        return row == ("on",)


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Server]]:
    with ExitStack() as stack:
        folder = stack.enter_context(data_folder())
        made = []
        for name in ("one", "two"):
            server = Server(stack.enter_context(postgresql(folder / name)))
            stack.enter_context(server.proxy)
            made.append(server)
        yield made


@pytest.fixture
def connect(servers: list[Server], django_db_blocker: DjangoDbBlocker) -> Iterator[Connect]:
    """Make connections as separate threads would; each test has proxies that work and writable servers."""
    made: list[DatabaseWrapper] = []

    def make(*hosts: Server, query: str = "", is_serving: bool = False) -> DatabaseWrapper:
        netloc = ",".join(server.host for server in hosts)
        handler = ConnectionHandler({"default": databases.primary(f"postgresql://postgres@{netloc}/postgres?{query}")})
        wrapper = handler["default"]
        assert isinstance(wrapper, DatabaseWrapper)
        wrapper.is_serving = is_serving
        made.append(wrapper)
        return wrapper

    with django_db_blocker.unblock():
        yield make
        for wrapper in made:
            wrapper.close()
    for server in servers:
        server.proxy.restore()
        if server.is_read_only:
            server.set_read_only(is_on=False)


def value(connection: DatabaseWrapper, sql: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def hot(connection: DatabaseWrapper, sql: str, *values: str) -> list[bytes]:
    return connection.first_column(sql, values)


def end_request(connection: DatabaseWrapper) -> None:
    connection.close_if_unusable_or_obsolete()


def port_of(connection: DatabaseWrapper) -> int:
    connection.ensure_connection()
    assert connection.connection
    return connection.connection.info.port


def test_the_writable_one_of_several_hosts_is_used(servers: list[Server], connect: Connect) -> None:
    for primary, standby in (servers, servers[::-1]):
        standby.set_read_only(is_on=True)
        assert port_of(connect(*servers)) == primary.proxy.port
        standby.set_read_only(is_on=False)


def test_an_unreachable_host_is_skipped(servers: list[Server], connect: Connect) -> None:
    servers[0].proxy.refuse()
    assert port_of(connect(*servers)) == servers[1].proxy.port


def test_a_silent_host_is_skipped_in_time(servers: list[Server], connect: Connect) -> None:
    servers[0].proxy.silence()
    started_at = time.monotonic()
    assert port_of(connect(*servers)) == servers[1].proxy.port
    assert time.monotonic() - started_at < BOUND_S
    asked = servers[0].proxy.accepted
    assert port_of(connect(*servers)) == servers[1].proxy.port
    assert servers[0].proxy.accepted == asked  # it is tried last now


def test_a_connection_whose_server_became_a_standby_is_dropped(servers: list[Server], connect: Connect) -> None:
    servers[1].set_read_only(is_on=True)
    connection = connect(*servers)
    assert port_of(connection) == servers[0].proxy.port
    servers[0].set_read_only(is_on=True)
    servers[1].set_read_only(is_on=False)
    with pytest.raises(InternalError, match="read-only"), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE lost (id int)")
    end_request(connection)
    assert port_of(connection) == servers[1].proxy.port


def test_a_connection_whose_prepared_statements_no_longer_fit_is_dropped(
    servers: list[Server], connect: Connect
) -> None:
    connection = connect(servers[0])
    with psycopg.connect(servers[0].url, autocommit=True) as other:
        other.execute("CREATE TABLE widened AS SELECT 'a'::varchar(1) AS letter")
        for _ in range(2):  # the second time it is prepared
            assert value(connection, "SELECT letter FROM widened") == "a"
        other.execute("ALTER TABLE widened ALTER letter TYPE varchar(2)")
    with pytest.raises(NotSupportedError, match="cached plan"):
        value(connection, "SELECT letter FROM widened")
    end_request(connection)
    assert value(connection, "SELECT letter FROM widened") == "a"


def test_a_connection_that_the_server_ended_is_replaced(servers: list[Server], connect: Connect) -> None:
    connection = connect(servers[0])
    process = value(connection, "SELECT pg_backend_pid()")
    with psycopg.connect(servers[0].url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
    assert connection.connection is not None
    assert select.select([connection.connection.fileno()], [], [], WAIT_TIMEOUT_S)[0]  # its last message has come
    end_request(connection)
    assert value(connection, "SELECT pg_backend_pid()") != process


def test_a_threads_connections_end_with_the_thread(servers: list[Server], connect: Connect) -> None:
    wrappers = [connect(servers[0]) for _ in range(2)]

    def work() -> None:
        for wrapper in wrappers:
            assert value(wrapper, "SELECT 1") == 1

    for wrapper in wrappers:
        wrapper.inc_thread_sharing()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [wrapper.connection and wrapper.connection.closed for wrapper in wrappers] == [True, True]


def test_a_servers_statement_is_ended_by_the_database(
    servers: list[Server], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "GRACE_S", WAIT_TIMEOUT_S)  # the database may be late
    connection = connect(servers[0], query="timeout=1", is_serving=True)
    with pytest.raises(OperationalError, match="statement timeout"):
        value(connection, "SELECT pg_sleep(5)")
    assert value(connection, "SELECT 1") == 1  # the connection is as good as before
    assert value(connection, "SHOW idle_in_transaction_session_timeout") == "2s"


def test_the_database_ends_a_transaction_whose_client_stops_after_a_pipeline(
    servers: list[Server], connect: Connect
) -> None:
    """A purchase holds the lock of its shop's numbers there."""
    connection = connect(servers[0], is_serving=True)
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        assert connection.connection
        with connection.connection.pipeline():
            cursor.execute("SET idle_in_transaction_session_timeout = '10ms'")
            cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connect(servers[0])
    until(lambda: value(other, f"SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}") == 0)


@pytest.mark.parametrize("is_serving", [True, False])
def test_the_database_too_notices_soon_that_a_host_is_gone(
    is_serving: bool, servers: list[Server], connect: Connect
) -> None:
    """Else it would hold the locks of a transaction that the host was in for two hours."""
    connection = connect(servers[0], query="keepalives_idle=7", is_serving=is_serving)
    # What it was told: it is connected to by a socket of its own machine here, where none of these applies.
    told = "SELECT string_agg(name || '=' || reset_val, ' ' ORDER BY name) FROM pg_settings WHERE name ~ '^tcp_'"
    expected = "tcp_keepalives_count=3 tcp_keepalives_idle=7 tcp_keepalives_interval=5 tcp_user_timeout=15000"
    assert value(connection, told) == expected


def test_a_servers_statements_are_planned_along_indexes_and_a_commands_are_not(
    servers: list[Server], connect: Connect
) -> None:
    served, command = (connect(servers[0], query="timeout=1", is_serving=is_serving) for is_serving in (True, False))
    for connection, plans_hash_joins, cost in ((served, "off", "1.1"), (command, "on", "4")):
        assert value(connection, "SHOW enable_hashjoin") == plans_hash_joins
        assert value(connection, "SHOW random_page_cost") == cost


def test_a_commands_statement_has_no_timeout(servers: list[Server], connect: Connect) -> None:
    connection = connect(servers[0], query="timeout=1")
    assert value(connection, "SHOW statement_timeout") == "0"
    assert value(connection, "SELECT 1 FROM pg_sleep(1.6)") == 1


def test_a_roles_timeout_is_for_requests_and_not_for_commands(servers: list[Server], connect: Connect) -> None:
    with psycopg.connect(servers[0].url, autocommit=True) as session:
        session.execute("ALTER ROLE postgres SET statement_timeout = '1s'")
        try:
            assert value(connect(servers[0]), "SHOW statement_timeout") == "0"
            own = connect(servers[0], query="options=-c%20statement_timeout=3s")
            assert value(own, "SHOW statement_timeout") == "3s"
            pooled = connect(servers[0], query="pgbouncer=true")  # what is set there is set for others too
            assert value(pooled, "SHOW statement_timeout") == "1s"
        finally:
            session.execute("ALTER ROLE postgres RESET statement_timeout")


def test_a_silent_database_times_out_and_all_its_connections_are_dropped(
    servers: list[Server], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "PROBE_TIMEOUT_S", WAIT_TIMEOUT_S)
    first, second = (connect(servers[0], query="timeout=1", is_serving=True) for _ in range(2))
    assert value(first, "SELECT 1") == value(second, "SELECT 1") == 1
    servers[0].proxy.silence()
    started_at = time.monotonic()
    with pytest.raises(OperationalError, match="did not answer"):
        value(first, "SELECT 1")
    assert 1 < time.monotonic() - started_at < BOUND_S
    for connection in (first, second):
        end_request(connection)
        assert not connection.is_usable()
    servers[0].proxy.restore()
    assert value(second, "SELECT 1") == 1


def test_a_hot_query_is_prepared_once_and_again_after_a_rollback(servers: list[Server], connect: Connect) -> None:
    connection = connect(servers[0])
    for word in ("é", ""):
        assert hot(connection, "SELECT %s || 'x'", word) == [f"{word}x".encode()]
    names = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'hot%'"
    assert [value(connection, names) for _ in range(2)] == [1, 1]
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        assert hot(connection, "SELECT 'open'") == [b"open"]
        cursor.execute("ROLLBACK")
    assert value(connection, names) == 0
    assert hot(connection, "SELECT %s || 'x'", "again") == [b"againx"]


def test_a_hot_query_fails_as_others_do(
    servers: list[Server], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "GRACE_S", WAIT_TIMEOUT_S)  # the database may be late
    connection = connect(servers[0], query="timeout=1", is_serving=True)
    with pytest.raises(DatabaseError, match="does not exist"):
        hot(connection, "SELECT 1 FROM missing")
    with pytest.raises(OperationalError, match="statement timeout"):
        hot(connection, "SELECT pg_sleep(9)::text")
    assert hot(connection, "SELECT 'x'") == [b"x"]
    servers[0].proxy.silence()
    with pytest.raises(OperationalError, match="did not answer"), connection.shorter_timeout(0.2):
        hot(connection, "SELECT 'x'")
    assert not connection.is_usable()
    servers[0].proxy.restore()
    end_request(connection)
    assert hot(connection, "SELECT 'x'") == [b"x"]


def test_a_shorter_timeout_can_be_set_for_a_block(servers: list[Server], connect: Connect) -> None:
    connection = connect(servers[0], is_serving=True)
    with pytest.raises(OperationalError, match="did not answer"), connection.shorter_timeout(0.3):
        value(connection, "SELECT pg_sleep(5)")


def test_a_server_without_an_answer_fails_the_commit(servers: list[Server], connect: Connect) -> None:
    connection = connect(servers[0], query="timeout=1", is_serving=True)
    connection.set_autocommit(False)
    value(connection, "SELECT 1")
    servers[0].proxy.silence()
    with pytest.raises(DatabaseError, match="did not answer"):
        connection.commit()


@pytest.mark.parametrize(
    ("default", "used"),
    [("off", "on"), ("local", "on"), ("on", "on"), ("remote_write", "remote_write"), ("remote_apply", "remote_apply")],
)
def test_a_commit_waits_for_the_disk_whatever_the_databases_default(
    default: str, used: str, servers: list[Server], connect: Connect
) -> None:
    with psycopg.connect(servers[0].url, autocommit=True) as admin:
        admin.execute(f"ALTER ROLE postgres SET synchronous_commit = {default}")
        try:
            assert value(connect(servers[0]), "SHOW synchronous_commit") == used
        finally:
            admin.execute("ALTER ROLE postgres RESET synchronous_commit")
