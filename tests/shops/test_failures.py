"""Failures of the database, by SQLSTATE and without their text."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.utils import ConnectionHandler
from pytest_django import DjangoDbBlocker

from config import databases
from config.ops.logs import format_exception
from config.postgresql.hosts import hosts_of
from shops.db.failures import is_disk_full, reason


@pytest.fixture
def no_circuit() -> Iterator[None]:
    """Let no circuit be open that another test has opened, and leave none."""
    hosts_of.cache_clear()
    yield
    hosts_of.cache_clear()


@pytest.mark.real_services
@pytest.mark.usefixtures("no_circuit")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"path": "/absent"}, "OperationalError 3D000 (no such database)"),
        ({"netloc": "nobody@"}, "OperationalError 28000 (role not allowed)"),
    ],
)
def test_a_refused_connection_is_logged_with_its_cause(
    changes: dict[str, str], expected: str, caplog: pytest.LogCaptureFixture, django_db_blocker: DjangoDbBlocker
) -> None:
    wrong = urlsplit(os.environ["DATABASE_URL"])._replace(**changes).geturl()
    with django_db_blocker.unblock(), pytest.raises(OperationalError) as caught:
        ConnectionHandler({"default": databases.primary(wrong)})["default"].ensure_connection()
    assert reason(caught.value) == expected
    assert [vars(each)["reason"] for each in caplog.records if each.name == "database.hosts"] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('FATAL:  password authentication failed for user "parcels"', "OperationalError 28P01 (wrong password)"),
        ("FATAL:  sorry, too many clients already", "OperationalError 53300 (too many connections)"),
        ("FATAL:  the database system is starting up", "OperationalError 57P03 (not accepting connections)"),
        ('FATAL:  pg_hba.conf rejects connection for host "::1"', "OperationalError 28000 (role not allowed)"),
        ("FATAL:  unsupported startup parameter: options", "OperationalError 08004 (needs ?pgbouncer=true)"),
        ("SSL error: certificate verify failed", "OperationalError 08001 (no TLS as sslmode asks)"),
        ('root certificate file "/x.crt" does not exist', "OperationalError 08001 (no TLS as sslmode asks)"),
        ('server certificate for "a" does not match "b"', "OperationalError 08001 (no TLS as sslmode asks)"),
        ("server does not support SSL, but SSL was required", "OperationalError 08001 (no TLS as sslmode asks)"),
        ('invalid sslmode value: "verify_full"', "OperationalError 08001 (no TLS as sslmode asks)"),
        ("SSL connection has been closed unexpectedly", "OperationalError"),
        ("Connection refused", "OperationalError"),
    ],
)
def test_a_servers_words_have_their_sqlstate(text: str, expected: str) -> None:
    assert reason(psycopg.OperationalError(text)) == expected
    assert reason(ValueError(text)) == "ValueError"


@pytest.mark.real_services
@pytest.mark.django_db
def test_a_traceback_ends_with_the_sqlstate_and_not_with_the_text() -> None:
    with pytest.raises(DatabaseError) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 'Jane'::int")
    text = format_exception((caught.type, caught.value, caught.tb))
    assert text.endswith("django.db.utils.DataError 22P02")
    assert "Jane'" not in text.rpartition("\n")[2]


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_loses_its_connection_raises_the_loss_and_does_not_connect_again() -> None:
    with (
        pytest.raises(OperationalError, match="terminating connection"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    assert connection.connection is None
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert connection.in_atomic_block
    assert connection.get_autocommit()


def test_sqlite_says_in_its_own_way_that_the_disk_is_full(django_db_blocker: DjangoDbBlocker, tmp_path: Path) -> None:
    small = ConnectionHandler({"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "db"}})["default"]
    with django_db_blocker.unblock(), small.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 2")
        with pytest.raises(OperationalError) as caught:
            cursor.execute("CREATE TABLE big AS SELECT randomblob(100000) AS content")
    small.close()
    assert is_disk_full(caught.value)
    assert not is_disk_full(OperationalError("database is locked"))
