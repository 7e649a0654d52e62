"""PgBouncer in transaction mode: each transaction may use another server connection."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.db import DatabaseError, connection
from django.db.utils import ConnectionHandler

from config import databases
from config.postgresql.base import DatabaseWrapper
from tests.support.api import Caller
from tests.support.factories import import_parcel
from tests.support.http import Connection
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.pooler import EXECUTABLE, pgbouncer
from tests.support.processes import free_port, served
from tests.support.programs import needs
from tests.support.proxies import Proxy, postgresql_target

pytestmark = [pytest.mark.real_services, pytest.mark.django_db(transaction=True), needs("pgbouncer", EXECUTABLE)]


@pytest.fixture
def url(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """The test's database behind a pooler whose clients share one server connection."""
    settings = connection.settings_dict
    with Proxy(postgresql_target(settings)) as proxy, pgbouncer(tmp_path, free_port(), proxy.port, pool_size=1) as own:
        yield f"postgresql://postgres@127.0.0.1:{own.port}/{settings['NAME']}"


def take_turns(url: str) -> None:
    """Let two clients take turns at running the same two statements, as requests do."""
    with ExitStack() as stack:
        clients = []
        for _ in range(2):
            client = ConnectionHandler({"default": databases.primary(url)})["default"]
            assert isinstance(client, DatabaseWrapper)
            client.is_serving = True
            stack.callback(client.close)
            clients.append(client)
        for turn in range(6):
            with clients[turn % 2].cursor() as cursor:
                cursor.execute("SELECT id FROM shops_shop WHERE name = %s", ["none"])
                assert cursor.fetchall() == []
                cursor.execute("SELECT name FROM shops_shop WHERE id = %s", [str(turn)])
                assert cursor.fetchall() == []


def test_clients_share_a_connection_to_the_server(url: str) -> None:
    take_turns(url + "?pgbouncer=true")


def version() -> tuple[int, ...]:
    text = subprocess.run([str(EXECUTABLE), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", text)
    assert found
    return tuple(map(int, found.groups()))


def test_without_the_setting_an_older_pgbouncer_fails(url: str) -> None:
    if version() >= (1, 21):
        pytest.skip("this one supports prepared statements")
    with pytest.raises(DatabaseError):
        take_turns(url)
    with pytest.raises(DatabaseError):
        take_turns(url + "?pgbouncer=true&prepare_threshold=0")


def test_a_server_answers_through_it(url: str, own: Caller, tmp_path: Path) -> None:
    parcel = import_parcel(own.shop)
    paths = [PARCELS + parcel["trackingId"], SEARCH + "?orderName=none", f"{SHIPMENTS}/NONE"]
    with served(tmp_path / "server.log", {"DATABASE_URL": url + "?pgbouncer=true"}) as server:
        clients = [Connection(server.port) for _ in range(4)]
        asked = [client.request("GET", path, headers=own.bearer) for client in clients * 3 for path in paths]
        for client in clients:
            client.close()
    assert [answer.status for answer in asked] == [200, 200, 404] * 12
