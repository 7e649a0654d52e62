"""Moments that all processes share: never handed out twice, whoever asks."""

from datetime import timedelta

import pytest

from shops.db import clock, pacing
from shops.db.pacing import Pace
from tests.support.threads import in_threads

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)


def test_moments_are_an_interval_apart_whoever_reserves_them(transactional_db: None) -> None:
    first = pacing.reserve("calls", count=3, interval=SECOND)
    assert first == 0
    assert 2.5 < pacing.reserve("calls", count=1, interval=SECOND) <= 3
    assert 3.5 < pacing.reserve("calls", count=1, interval=SECOND) <= 4
    assert pacing.reserve("others", count=1, interval=SECOND) == 0


def test_processes_at_once_get_different_moments(transactional_db: None) -> None:
    waits = in_threads(4, lambda _: pacing.reserve("calls", count=1, interval=timedelta(minutes=1)))
    assert sorted(round(wait / 60) for wait in waits) == [0, 1, 2, 3]


def test_unused_moments_are_not_made_up_for(transactional_db: None) -> None:
    Pace.objects.create(name="calls", next_at=clock.now() - DAY)
    assert pacing.reserve("calls", count=1, interval=SECOND) == 0
    assert pacing.reserve("calls", count=1, interval=SECOND) > 0.5


def test_a_clock_set_back_does_not_stop_the_calls(transactional_db: None) -> None:
    Pace.objects.create(name="calls", next_at=clock.now() + timedelta(hours=1))
    assert pacing.reserve("calls", count=1, interval=SECOND) == 0


def test_a_clock_set_back_does_not_stop_the_tasks(transactional_db: None) -> None:
    lease, wait = timedelta(minutes=3), timedelta(minutes=3)
    pacing.claim("reconciliation", lease=lease, wait=wait)
    pacing.schedule("reconciliation", wait=wait)
    assert not pacing.claim("reconciliation", lease=lease, wait=wait)
    Pace.objects.update(next_at=clock.now() + timedelta(days=300))
    assert pacing.claim("reconciliation", lease=lease, wait=wait)
    assert not pacing.claim("reconciliation", lease=lease, wait=wait)


def test_what_is_due_is_claimed_once_until_the_lease_ends(transactional_db: None) -> None:
    claims = in_threads(8, lambda _: pacing.claim("retention", lease=timedelta(hours=1), wait=DAY))
    assert sorted(claims) == [False] * 7 + [True]
    Pace.objects.update(next_at=clock.now())
    assert pacing.claim("retention", lease=timedelta(hours=1), wait=DAY)
    assert not pacing.claim("retention", lease=timedelta(hours=1), wait=DAY)


def test_the_next_run_counts_from_the_end_of_the_last(transactional_db: None) -> None:
    pacing.claim("retention", lease=timedelta(hours=1), wait=DAY)
    pacing.schedule("retention", wait=DAY)
    assert Pace.objects.get().next_at == pytest.approx(clock.now() + DAY, abs=SECOND)
    assert not pacing.claim("retention", lease=timedelta(hours=1), wait=DAY)
