"""The database's clock is the one that counts, and a host knows how far its own is off."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from shops.db import clock
from shops.models import Shop
from tests.support.factories import ShopFactory

HOUR = timedelta(hours=1)


@pytest.mark.django_db
def test_the_time_of_a_statement_is_that_of_the_clock() -> None:
    ShopFactory(created_at=clock.now())
    assert Shop.objects.filter(created_at__lt=clock.Now()).count() == 1
    assert Shop.objects.filter(created_at__lt=clock.Now() - HOUR).count() == 0


@pytest.mark.django_db
def test_a_time_is_compared_to_the_microsecond() -> None:
    for _ in range(50):
        ShopFactory(created_at=clock.now())
    assert Shop.objects.filter(created_at__lt=clock.Now()).count() == 50


@pytest.mark.real_services
@pytest.mark.django_db
@pytest.mark.parametrize("skew", [-HOUR, HOUR])
def test_a_host_knows_how_far_it_is_off(skew: timedelta, monkeypatch: pytest.MonkeyPatch) -> None:
    right, seconds = timezone.now, skew.total_seconds()
    monkeypatch.setattr("time.time", lambda: right().timestamp() + seconds)
    monkeypatch.setattr("django.utils.timezone.now", lambda: right() + skew)
    assert abs(clock.now() - right()) < timedelta(minutes=1)
    assert abs(clock.host_offset_s() - seconds) < 60
    assert clock.is_host_off()


@pytest.mark.django_db
def test_a_database_that_answers_late_is_no_clock_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    read = iter([1000.0, 1060.0])
    monkeypatch.setattr("shops.db.clock.time.time", lambda: next(read))
    monkeypatch.setattr(clock, "now", lambda: datetime.fromtimestamp(1030.0, UTC))
    assert clock.host_offset_s() == 0


@pytest.mark.real_services
@pytest.mark.django_db
def test_the_time_that_is_followed_is_never_early_and_costs_no_query(django_assert_num_queries: Any) -> None:
    clock.now()
    before = clock.now()
    with django_assert_num_queries(0):
        followed = clock.upper_bound_now()
    assert before < followed < clock.now() + timedelta(seconds=1)


@pytest.mark.real_services
@pytest.mark.django_db
@pytest.mark.parametrize("seconds", [-1.0, clock.FOLLOWED_S])
def test_a_time_that_was_read_too_long_ago_is_read_again(
    seconds: float, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    clock.now()
    asked_at_s, moment = clock.latest
    monkeypatch.setattr(clock, "latest", (asked_at_s - seconds, moment))
    with django_assert_num_queries(1):
        clock.upper_bound_now()
