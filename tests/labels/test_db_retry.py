"""Writes are retried, on a new connection each time, until the database is back."""

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from labels.lifecycle import db_retry
from labels.lifecycle.db_retry import with_db_retry
from shops.api.errors.plain import ORDERS_HELD_UP
from tests.labels.conftest import Sandbox
from tests.labels.orders import order, post
from tests.support.api import Caller


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Make no pause, and note each time that the connection is given up."""
    noted: list[bool] = []
    monkeypatch.setattr(db_retry, "PAUSE_S", 0)
    monkeypatch.setattr("labels.lifecycle.db_retry.connection.close", lambda: noted.append(True))
    return noted


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_write_that_fails_is_made_again_on_a_new_connection(error: type[Exception], closed: list[bool]) -> None:
    failures = [error("the database restarts")] * 3

    def write() -> str:
        if failures:
            raise failures.pop()
        return "written"

    assert with_db_retry(write) == "written"
    assert len(closed) == 3


def test_a_database_that_stays_away_is_an_error_in_the_end(closed: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", -1)

    def write() -> None:
        raise DatabaseError("gone")

    with pytest.raises(DatabaseError):
        with_db_retry(write)


def test_a_fault_of_our_own_is_not_tried_again(closed: list[bool]) -> None:
    calls: list[bool] = []

    def write() -> None:
        calls.append(True)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        with_db_retry(write)
    assert (len(calls), closed) == (1, [])


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_while_the_databases_disk_is_full_an_order_is_refused_at_once_and_leaves_nothing(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError("an order waits for the database")

    monkeypatch.setattr("labels.lifecycle.db_retry.time.sleep", wait)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;"
            "CREATE TRIGGER full_disk BEFORE INSERT ON labels_shippinglabel EXECUTE FUNCTION refuse()"
        )
    try:
        response = post(buyer, order(), key="k")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")
    assert (response.status_code, response.json()["message"]) == (503, ORDERS_HELD_UP.message)
    assert sandbox.calls() == 0
    assert post(buyer, order(), key="k").status_code == 201
