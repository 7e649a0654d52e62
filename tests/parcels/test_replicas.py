"""Where a look-up reads: parcels from a replica, tokens from the primary, and each from the other in its absence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection, connections

from shops.db import replicas
from shops.db.replicas import REPLICA
from shops.models import AccessToken
from tests.support.api import Caller, forget
from tests.support.factories import import_parcel
from tests.support.paths import SHIPMENTS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def replica(own: Caller) -> Iterator[Any]:
    """A second way to the test's database, under the replica's name."""
    second = connection.copy()
    second.connect()  # as the one database that a test may connect to
    second.alias = REPLICA
    connections.settings[REPLICA] = second.settings_dict
    connections[REPLICA] = second
    yield second
    second.close()
    del connections[REPLICA], connections.settings[REPLICA]


@contextmanager
def statements(database: Any) -> Iterator[list[str]]:
    """Collect what is asked of a database."""
    seen: list[str] = []

    def note(execute: Any, sql: str, *args: Any) -> Any:
        seen.append(sql)
        return execute(sql, *args)

    with database.execute_wrapper(note):
        yield seen


@contextmanager
def gone(database: Any, error: type[Exception] = OperationalError) -> Iterator[None]:
    """Let every statement fail as if nobody answered."""

    def fail(*args: Any) -> None:
        raise error("the server is gone")

    with database.execute_wrapper(fail):
        yield


@pytest.fixture
def parcel(own: Caller) -> dict[str, Any]:
    made: dict[str, Any] = import_parcel(own.shop)
    return made


def test_parcels_are_read_from_the_replica_and_only_they(replica: Any, own: Caller, parcel: dict[str, Any]) -> None:
    with statements(replica) as read, statements(connection) as asked:
        assert own.look_up(parcel["trackingId"]).json() == parcel
        assert own.search(orderName=parcel["orderNumber"]).json() == [parcel]
    assert len(read) == 2
    assert all("parcels_parcel" in sql for sql in read)
    assert not any("parcels_parcel" in sql for sql in asked)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_without_a_replica_parcels_are_read_from_the_primary(
    error: type[Exception], replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with gone(replica, error):
        assert own.look_up(parcel["trackingId"]).json() == parcel
        assert own.search(orderName=parcel["orderNumber"]).json() == [parcel]


def test_where_the_connection_to_a_replica_was_lost_another_replica_is_asked_before_the_primary(
    replica: Any, own: Caller, parcel: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = [OperationalError("the server closed the connection")]

    def lose_it_once(execute: Any, sql: str, *args: Any) -> Any:
        if losses:
            raise losses.pop()
        return execute(sql, *args)

    with monkeypatch.context() as patch, replica.execute_wrapper(lose_it_once), statements(connection) as asked:
        patch.setattr(replica, "is_usable", lambda: False)
        patch.setattr(replica, "close", lambda: None)  # a test may not connect to it once more
        assert own.look_up(parcel["trackingId"]).json() == parcel
    assert not any("parcels_parcel" in sql for sql in asked)


@pytest.mark.real_services
def test_the_primary_is_waited_for_shortly_where_a_replica_can_be_asked_instead(
    own: Caller, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    patience = connection.patience  # type: ignore[attr-defined]  # our PostgreSQL backend's
    monkeypatch.setattr(patience, "timeout_s", 10.0)
    with replicas.bounded_wait():
        assert patience.timeout_s == 10.0
    request.getfixturevalue("replica")
    with replicas.bounded_wait():
        assert patience.timeout_s == replicas.PRIMARY_TIMEOUT_S
    assert patience.timeout_s == 10.0


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_without_the_primary_a_token_is_read_from_the_replica(
    error: type[Exception], replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with gone(connection, error):
        assert own.look_up(parcel["trackingId"]).json() == parcel
        assert own.search(orderName=parcel["orderNumber"]).json() == [parcel]


def test_a_replica_is_not_asked_for_a_token_while_the_primary_answers(
    replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    AccessToken.objects.filter(shop=own.shop).revoke()
    with statements(replica) as read:
        assert own.look_up(parcel["trackingId"]).status_code == 403
    assert read == []


def test_what_a_replica_says_of_a_token_counts_only_until_the_primary_is_back(
    replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with gone(connection):
        assert own.look_up(parcel["trackingId"]).status_code == 200
    AccessToken.objects.filter(shop=own.shop).revoke()
    assert own.look_up(parcel["trackingId"]).status_code == 403


def test_a_label_is_never_bought_or_shown_on_a_replicas_word(replica: Any, own: Caller) -> None:
    with gone(connection), statements(replica) as read:
        assert own.get(f"{SHIPMENTS}/NONE").status_code == 500
        assert own.request("POST", SHIPMENTS).status_code == 500
    assert read == []


def test_with_all_databases_gone_the_answer_is_an_error_and_says_nothing(
    replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with gone(connection), gone(replica):
        response = own.look_up(parcel["trackingId"])
    assert response.status_code == 500
    assert "gone" not in response.json()["message"]


def test_without_a_replica_nothing_stands_in_for_the_primary(own: Caller, parcel: dict[str, Any]) -> None:
    with gone(connection):
        assert own.look_up(parcel["trackingId"]).status_code == 500
    forget()
    assert own.look_up(parcel["trackingId"]).status_code == 200
