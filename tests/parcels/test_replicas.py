"""Look-ups read parcels from a replica and tokens from the primary, each from the other if it is down."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import InterfaceError, OperationalError, connection, connections

from shops.db import replicas
from shops.db.replicas import REPLICA
from shops.models import AccessToken
from tests.support.api import Caller, forget
from tests.support.factories import import_parcel
from tests.support.paths import SHIPMENTS
from tests.support.sql import statements

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def replica(own: Caller) -> Iterator[Any]:
    """A second connection to the test's database, under the replica's name."""
    second = connection.copy()
    second.connect()  # under the alias that tests may connect to
    second.alias = REPLICA
    connections.settings[REPLICA] = second.settings_dict
    connections[REPLICA] = second
    yield second
    second.close()
    del connections[REPLICA], connections.settings[REPLICA]


@contextmanager
def gone(database: Any, error: type[Exception] = OperationalError) -> Iterator[None]:
    """Let every statement fail as if the server were down."""
    with database.execute_wrapper(Mock(side_effect=error("the server is gone"))):
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


@contextmanager
def behind(database: Any) -> Iterator[None]:
    """Let a database be as it was before any parcel."""

    def find_nothing(execute: Any, sql: str, *args: Any) -> Any:
        return execute(sql.replace(" WHERE ", " WHERE 1 = 0 AND ", 1), *args)

    with database.execute_wrapper(find_nothing):
        yield


def test_what_a_replica_does_not_have_yet_is_read_from_the_primary(
    replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with behind(replica):
        assert own.look_up(parcel["trackingId"]).json() == parcel
        assert own.search(orderName=parcel["orderNumber"]).json() == [parcel]
        assert own.look_up("absent").status_code == 404
        with gone(connection):
            assert own.look_up(parcel["trackingId"]).status_code == 404


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("is_primary", [False, True])
def test_without_one_of_the_two_parcels_and_tokens_are_read_from_the_other(
    is_primary: bool, error: type[Exception], replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with gone(connection if is_primary else replica, error):
        assert own.look_up(parcel["trackingId"]).json() == parcel
        assert own.search(orderName=parcel["orderNumber"]).json() == [parcel]


def test_after_a_lost_connection_another_replica_is_asked_before_the_primary(
    replica: Any, own: Caller, parcel: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = [OperationalError("the server closed the connection")]

    def lose_it_once(execute: Any, sql: str, *args: Any) -> Any:
        if losses:
            raise losses.pop()
        return execute(sql, *args)

    with monkeypatch.context() as patch, replica.execute_wrapper(lose_it_once), statements(connection) as asked:
        patch.setattr(replica, "is_usable", lambda: False)
        patch.setattr(replica, "close", lambda: None)  # a test may not connect to it again
        assert own.look_up(parcel["trackingId"]).json() == parcel
    assert not any("parcels_parcel" in sql for sql in asked)


@pytest.mark.real_services
def test_the_primarys_timeout_is_shorter_where_a_replica_can_stand_in(
    own: Caller, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    answer_timeout = connection.answer_timeout  # type: ignore[attr-defined]  # our PostgreSQL backend's
    monkeypatch.setattr(answer_timeout, "seconds", 10.0)
    with replicas.shorter_primary_timeout():
        assert answer_timeout.seconds == 10.0
    request.getfixturevalue("replica")
    with replicas.shorter_primary_timeout():
        assert answer_timeout.seconds == replicas.PRIMARY_TIMEOUT_S
    assert answer_timeout.seconds == 10.0


def test_a_replica_is_not_asked_for_a_token_while_the_primary_answers(
    replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    AccessToken.objects.filter(shop=own.shop).revoke()
    with statements(replica) as read:
        assert own.look_up(parcel["trackingId"]).status_code == 403
    assert read == []


def test_a_replicas_token_is_used_only_until_the_primary_is_back(
    replica: Any, own: Caller, parcel: dict[str, Any]
) -> None:
    with gone(connection):
        assert own.look_up(parcel["trackingId"]).status_code == 200
    AccessToken.objects.filter(shop=own.shop).revoke()
    assert own.look_up(parcel["trackingId"]).status_code == 403


def test_no_label_is_bought_or_shown_with_a_token_from_a_replica(
    replica: Any, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labels.lifecycle.db_retry.DB_RETRY_TIMEOUT_S", 0.3)
    with gone(connection), statements(replica) as read:
        assert own.get(f"{SHIPMENTS}/NONE").status_code == 500
    assert read == []
    with gone(connection), statements(replica) as read:
        assert own.request("POST", SHIPMENTS).status_code == 503
    assert {"shops_accesstoken" in statement for statement in read} == {True}  # tells if the order may wait


def test_with_all_databases_down_the_error_reveals_nothing(replica: Any, own: Caller, parcel: dict[str, Any]) -> None:
    with gone(connection), gone(replica):
        response = own.look_up(parcel["trackingId"])
    assert response.status_code == 500
    assert "gone" not in response.json()["message"]


def test_without_a_replica_a_look_up_needs_the_primary(own: Caller, parcel: dict[str, Any]) -> None:
    with gone(connection):
        assert own.look_up(parcel["trackingId"]).status_code == 500
    forget()
    assert own.look_up(parcel["trackingId"]).status_code == 200
