"""Access tokens: their form, storage, end and cost."""

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any

import pytest
from cachetools import TTLCache
from django.db import DatabaseError, connection

from shops import tokens
from shops.api import authentication
from shops.models import AccessToken
from tests.support.api import Caller, Clock, client, forget
from tests.support.cases import in_one_test
from tests.support.factories import AccessTokenFactory, import_parcel
from tests.support.paths import SEARCH

FOUND = SEARCH + "?orderName=1"
MAX_TTL_S = 5  # the most that the README may promise
SOON_S = 8.0  # less than a write waits for another, on a busy machine too


def expire_cached_tokens(seconds: float) -> None:
    """Drop the tokens that would leave the cache within this time."""
    cache = authentication.find.cache
    assert isinstance(cache, TTLCache)
    cache.expire(time.monotonic() + seconds)


@contextmanager
def written() -> Iterator[list[str]]:
    statements: list[str] = []

    def note(execute: Any, sql: str, *args: Any) -> Any:
        if not sql.startswith("SELECT"):
            statements.append(sql)
        return execute(sql, *args)

    with connection.execute_wrapper(note):
        yield statements


def test_a_token_is_recognisable_and_unguessable() -> None:
    made = {tokens.new_token() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"[a-z]{2,}_[0-9A-Za-z]{36}", token) for token in made)
    assert tokens.RANDOM_LENGTH * 5.95 > 160  # bits: log2 of 62 is 5.954
    # Every position of the random part takes many values.
    assert min(len({token[place] for token in made}) for place in range(4, 34)) > 40


@in_one_test("place", range(40))
def test_a_token_with_one_character_mistyped_is_not_well_formed(place: int) -> None:
    token = tokens.new_token()
    assert tokens.is_well_formed(token)
    for wrong in "0aZ-é":
        if token[place] != wrong:
            assert not tokens.is_well_formed(token[:place] + wrong + token[place + 1 :])


@in_one_test("place", range(4, 39))
def test_a_token_with_two_neighbours_swapped_is_not_well_formed(place: int) -> None:
    token = tokens.new_token()
    swapped = token[:place] + token[place + 1] + token[place] + token[place + 2 :]
    assert swapped == token or not tokens.is_well_formed(swapped)


@pytest.mark.parametrize("change", ["{}x", "x{}", " {}", "{}\n", "{}{}", "", "pts_"])
def test_a_token_with_something_added_is_not_well_formed(change: str) -> None:
    token = tokens.new_token()
    assert not tokens.is_well_formed(change.format(token, token))


def test_a_token_of_an_earlier_version_stays_well_formed() -> None:
    assert tokens.is_well_formed("pts_" + "0" * 30 + "2C8GjS")


def test_only_a_digest_is_stored(own: Caller) -> None:
    own.get(FOUND)
    row = AccessToken.objects.filter(shop=own.shop).values().get()
    assert re.fullmatch(r"[0-9a-f]{64}", row["digest"])
    for value in row.values():
        for part in (own.token, own.token[4:34], own.token[-6:]):
            assert part not in str(value)


def test_a_token_ends_at_the_moment_it_expires(own: Caller, clock: Clock) -> None:
    token = AccessTokenFactory(shop=own.shop, expires_at=clock.now() + timedelta(seconds=10))
    caller = Caller(own.shop, token.secret)
    assert caller.get(FOUND).status_code == 200
    clock.tick(9.999)
    assert caller.get(FOUND).status_code == 200
    clock.tick(0.001)
    # At once, although the token is cached.
    assert caller.get(FOUND).status_code == 403
    clock.tick(3600)
    forget()
    assert caller.get(FOUND).status_code == 403


def test_a_revocation_takes_effect_within_the_seconds_stated(own: Caller) -> None:
    assert authentication.TOKEN_CACHE_TTL_S <= MAX_TTL_S
    assert own.get(FOUND).status_code == 200
    assert AccessToken.objects.filter(shop=own.shop).revoke() == 1
    expire_cached_tokens(authentication.TOKEN_CACHE_TTL_S)
    assert own.get(FOUND).status_code == 403


def test_a_shop_made_inactive_is_refused_within_the_seconds_stated(own: Caller) -> None:
    assert own.get(FOUND).status_code == 200
    own.shop.is_active = False
    own.shop.save()
    expire_cached_tokens(authentication.TOKEN_CACHE_TTL_S)
    assert own.get(FOUND).status_code == 403


def test_a_second_revocation_keeps_the_first_time(own: Caller) -> None:
    mine = AccessToken.objects.filter(shop=own.shop)
    assert mine.revoke() == 1
    revoked_at = mine.get().revoked_at
    assert revoked_at is not None
    assert mine.revoke() == 0
    assert mine.get().revoked_at == revoked_at


def test_the_last_use_is_recorded_with_at_most_one_write_a_minute(own: Caller, clock: Clock) -> None:
    mine = AccessToken.objects.filter(shop=own.shop)
    assert mine.get().last_used_at is None
    own.get(FOUND)
    first = mine.get().last_used_at
    assert first is not None
    assert abs(first - clock.now()) < timedelta(minutes=1)
    clock.tick(50)
    with written() as statements:
        for _ in range(3):
            forget()
            own.get(FOUND)
    assert statements == []
    clock.tick(30)
    forget()
    with written() as statements:
        own.get(FOUND)
        own.get(FOUND)
    assert len(statements) == 1
    last_used_at = mine.get().last_used_at
    assert last_used_at is not None
    assert last_used_at > first


def test_of_two_processes_one_records_the_last_use(own: Caller, clock: Clock) -> None:
    mine = AccessToken.objects.filter(shop=own.shop)
    stale, recorded = mine.get(), clock.now() - timedelta(seconds=1)
    mine.update(last_used_at=recorded)
    AccessToken.objects.record_use(stale)
    assert mine.get().last_used_at == recorded


def test_an_attempt_with_an_invalid_token_is_not_recorded_as_a_use(db: None) -> None:
    token = AccessTokenFactory(is_revoked=True)
    assert Caller(token.shop, token.secret).get(FOUND).status_code == 403
    token.refresh_from_db()
    assert token.last_used_at is None


def test_a_last_use_that_cannot_be_recorded_fails_no_request(
    transactional_db: None, own: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(execute: Any, sql: str, *args: Any) -> Any:
        if sql.startswith("UPDATE"):
            raise DatabaseError("read-only")
        return execute(sql, *args)

    with connection.execute_wrapper(refuse):
        assert own.get(FOUND).status_code == 200
    assert "last use not recorded" in caplog.text


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has one writer at a time")
def test_a_look_up_does_not_wait_for_an_import(transactional_db: None, own: Caller) -> None:
    mine = AccessToken.objects.filter(shop=own.shop)
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as importer:
        importer.execute("BEGIN IMMEDIATE")
        started_at = time.monotonic()
        assert own.get(FOUND).status_code == 200
        assert time.monotonic() - started_at < SOON_S
        importer.execute("ROLLBACK")
    assert connection.cursor().execute("PRAGMA busy_timeout").fetchone()[0] > SOON_S * 1000  # other writes wait
    forget()
    own.get(FOUND)
    assert mine.get().last_used_at is not None


def test_a_look_up_with_a_token_just_used_costs_one_query(
    own: Caller, clock: Clock, django_assert_num_queries: Any
) -> None:
    number = import_parcel(own.shop)["trackingId"]
    own.look_up(number)
    with django_assert_num_queries(1):
        own.look_up(number)
    with django_assert_num_queries(1):
        own.get(FOUND)


def test_a_first_look_up_costs_three_queries(own: Caller, django_assert_num_queries: Any) -> None:
    """The token with its shop, its last use, and the parcel."""
    with django_assert_num_queries(3):
        own.look_up("absent")


@pytest.mark.parametrize(
    "mistype",
    [lambda _: None, lambda _: "", lambda _: "nonsense", lambda _: "pts_" + "0" * 36, lambda token: token[:-1]],
    ids=["none", "empty", "nonsense", "zeros", "cut"],
)
def test_a_mistyped_token_and_none_cost_no_query(
    mistype: Callable[[str], str | None], db: None, django_assert_num_queries: Any
) -> None:
    token = mistype(tokens.new_token())
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with django_assert_num_queries(0):
        assert client().get(SEARCH, headers=headers).status_code == 403
