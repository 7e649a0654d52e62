"""A server whose primary or replica is unreachable or silent: tracking keeps answering, in time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from shops.models import AccessToken
from shops.tokens import new_token
from tests.support.api import Caller, caller
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel
from tests.support.http import call
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.processes import served
from tests.support.proxies import Proxy, postgresql_target
from tests.support.sql import configure
from tests.support.waiting import until

pytestmark = [pytest.mark.real_services, pytest.mark.django_db(transaction=True)]
# A statement's timeout on a replica, one or two connection timeouts (2 s each), and a margin for a busy machine.
# Without timeouts it would be a minute and more.
BOUND_S = 40.0


class World(SimpleNamespace):
    """A server, and the proxies between it and its databases."""

    port: int
    primary: Proxy
    replica: Proxy
    urls: dict[str, str]
    log: Path

    def ask(self, caller: Caller, path: str) -> tuple[int, Any, float]:
        """Return the status, the body and the duration in seconds."""
        answer = call(self.port, "GET", path, headers=caller.bearer)
        return answer.status, answer.body, answer.duration_s

    def wait_for_primary(self, caller: Caller) -> None:
        """Repeat a request that only the primary can answer, until it succeeds."""
        until(lambda: self.ask(caller, f"{SHIPMENTS}/NONE")[0] == 404)

    def wait_for_replica(self) -> None:
        """Repeat a look-up, within each shop's limit, until the replica answers it: a failed one rests for 2 s."""

        def is_asked() -> bool:
            before = self.replica.passed
            self.look_up(caller(ShopFactory()), "NONE")
            return self.replica.passed > before

        until(is_asked)

    def look_up(self, caller: Caller, number: str) -> tuple[int, Any, float]:
        return self.ask(caller, PARCELS + number)


def assert_only_the_first_waited(answers: list[tuple[int, Any, float]]) -> None:
    durations_s = sorted(duration_s for *_, duration_s in answers)
    assert durations_s[-1] < BOUND_S
    assert durations_s[len(durations_s) // 2] < 1.5  # a wait takes 2 s


@contextmanager
def databases() -> Iterator[World]:
    """The test's database behind two proxies: as the primary, and as its replica."""
    settings = connection.settings_dict
    target = postgresql_target(settings)
    with Proxy(target) as primary, Proxy(target) as replica:
        proxies = {"DATABASE_URL": primary, "DATABASE_REPLICA_URL": replica}
        urls = {
            name: f"postgresql://{settings['USER']}@127.0.0.1:{proxy.port}/{settings['NAME']}"
            for name, proxy in proxies.items()
        }
        yield World(primary=primary, replica=replica, urls=urls)


@pytest.fixture(scope="module")
def started(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    log = tmp_path_factory.mktemp("failover") / "server.log"
    with databases() as world, served(log, world.urls) as server:
        world.port, world.log = server.port, log
        yield world


@pytest.fixture
def world(started: World) -> Iterator[World]:
    """The server, recovered from the test before."""
    started.wait_for_primary(caller(ShopFactory()))
    started.wait_for_replica()
    yield started
    for proxy in (started.primary, started.replica):
        proxy.restore()


@pytest.fixture
def parcel(own: Caller) -> dict[str, Any]:
    made: dict[str, Any] = import_parcel(own.shop)
    return made


def second_caller(caller: Caller) -> Caller:
    """Return the same shop with a token that the server has not cached."""
    return Caller(caller.shop, AccessTokenFactory(shop=caller.shop).secret)


def test_parcels_are_read_from_the_replica_and_tokens_from_the_primary(
    world: World, own: Caller, parcel: dict[str, Any]
) -> None:
    before = world.replica.passed
    assert world.look_up(own, parcel["trackingId"])[:2] == (200, parcel)
    assert world.replica.passed > before  # on an open connection too
    assert AccessToken.objects.get(shop=own.shop).last_used_at is not None


@pytest.mark.parametrize("way", ["refuse", "silence"])
def test_without_the_primary_tracking_answers_new_tokens(
    way: str, world: World, own: Caller, parcel: dict[str, Any]
) -> None:
    callers = [second_caller(own) for _ in range(10)]
    getattr(world.primary, way)()
    answers = [world.look_up(caller, parcel["trackingId"]) for caller in callers]
    assert [answer[:2] for answer in answers] == [(200, parcel)] * 10
    assert_only_the_first_waited(answers)
    found = world.ask(second_caller(own), f"{SEARCH}?orderName={parcel['orderNumber'].replace('#', '%23')}")
    assert found[:2] == (200, [parcel])
    # Requests that need the primary fail, without a wait for each, until it is back.
    answers = [world.ask(caller, f"{SHIPMENTS}/NONE") for caller in callers]
    assert {answer[0] for answer in answers} == {500}
    assert_only_the_first_waited(answers)
    world.primary.restore()
    world.wait_for_primary(own)


def test_without_the_primary_the_replica_decides_about_a_token(
    world: World, own: Caller, parcel: dict[str, Any]
) -> None:
    revoked, unknown = second_caller(own), Caller(own.shop, new_token())
    AccessToken.objects.filter(id=AccessToken.objects.find(revoked.token).id).revoke()
    world.primary.refuse()
    assert world.look_up(second_caller(own), parcel["trackingId"])[0] == 200
    for refused in (revoked, unknown):
        assert world.look_up(refused, parcel["trackingId"])[0] == 403


def test_a_look_up_does_not_wait_for_a_synchronous_standby(world: World, own: Caller, parcel: dict[str, Any]) -> None:
    logged = len(world.log.read_text())
    configure("SET synchronous_standby_names = 'nobody'")
    try:
        status, _, duration_s = world.look_up(own, parcel["trackingId"])
    finally:
        configure("RESET synchronous_standby_names")
    assert (status, duration_s < BOUND_S) == (200, True)
    assert "last use not recorded" not in world.log.read_text()[logged:]
    assert AccessToken.objects.get(shop=own.shop).last_used_at is not None


@pytest.mark.parametrize("way", ["refuse", "silence"])
def test_without_a_replica_parcels_are_read_from_the_primary(
    way: str, world: World, own: Caller, parcel: dict[str, Any]
) -> None:
    assert world.look_up(own, parcel["trackingId"])[0] == 200
    getattr(world.replica, way)()
    answers = [world.look_up(own, parcel["trackingId"]) for _ in range(10)]
    assert [answer[:2] for answer in answers] == [(200, parcel)] * 10
    assert_only_the_first_waited(answers)


def test_a_server_that_starts_without_the_primary_answers(own: Caller, parcel: dict[str, Any], tmp_path: Path) -> None:
    with databases() as made, served(tmp_path / "server.log", made.urls) as server:
        made.primary.silence()
        assert World(port=server.port).look_up(own, parcel["trackingId"])[:2] == (200, parcel)
