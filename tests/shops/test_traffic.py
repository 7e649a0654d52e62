"""Counts of shops' requests: in the process, then in the counter store; none lost to a store that fails."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.cache import caches
from redis.exceptions import ConnectionError as RedisConnectionError

from shops.api import traffic as module
from shops.api.traffic import Traffic, traffic
from shops.staff.days import today
from tests.support.api import Caller


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    traffic.counts.clear()
    yield
    traffic.counts.clear()


def newest(shop_id: str) -> dict[str, int]:
    days = traffic.last_days(shop_id)
    assert days is not None
    return dict(days[0][1])


def test_a_shops_requests_are_counted_by_class(own: Caller, other: Caller) -> None:
    own.look_up("absent")
    own.look_up("absent")
    own.search(orderName="#1")
    other.search(orderName="#1")
    assert newest("own") == {"4xx": 2, "2xx": 1}
    assert newest("other") == {"2xx": 1}


def test_a_refusal_by_the_rate_limit_is_a_class_of_its_own(own: Caller, settings: pytest.FixtureRequest) -> None:
    settings.RATE_LIMIT = (1, 60)  # type: ignore[attr-defined]  # pytest-django's
    own.search(orderName="#1")
    own.search(orderName="#1")
    assert newest("own") == {"2xx": 1, "429": 1}


def test_counts_add_up_over_several_flushes(db: None) -> None:
    for _ in range(3):
        traffic.note("own", 200)
        traffic.flush()
    assert newest("own") == {"2xx": 3}


def test_a_store_that_fails_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Traffic()
    made.note("own", 200)
    made.note("own", 500)
    with monkeypatch.context() as patched:
        for name in ("add", "get_many"):
            patched.setattr(caches["rate_limit"], name, Mock(side_effect=RedisConnectionError))
        assert made.last_days("own") is None
    made.note("own", 200)
    days = made.last_days("own")
    assert days is not None
    assert days[0][1] == {"2xx": 2, "5xx": 1}


def test_a_store_that_breaks_off_is_told_of_no_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made, store = Traffic(), caches["rate_limit"]
    add = store.incr

    def break_off(key: str, count: int) -> None:
        add(key, count)
        raise RedisConnectionError  # the answer was lost

    for shop_id in ("own", "other"):
        made.note(shop_id, 200)
    with monkeypatch.context() as patched:
        patched.setattr(store, "incr", break_off)
        made.flush()
    made.flush()
    made.flush()
    assert [newest(shop_id) for shop_id in ("own", "other")] == [{"2xx": 1}, {"2xx": 1}]


@pytest.mark.real_services
def test_processes_share_their_counts_in_redis(db: None) -> None:
    first, second = Traffic(), Traffic()
    for each in (first, second):
        each.note("own", 200)
        each.flush()
    days = second.last_days("own")
    assert days is not None
    assert dict(days[0][1]) == {"2xx": 2}
    cache: Any = caches["rate_limit"]
    left_s = cache._cache.get_client().ttl(cache.make_key(module.key_of("own", today(), "2xx")))
    assert 0 < left_s <= module.KEPT_S
