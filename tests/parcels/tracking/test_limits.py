"""The carriers' limits on calls a second, kept by all processes together."""

import time
from itertools import chain
from threading import Event

from django.db import connection
from pytest_django.fixtures import Settings

from parcels.tracking.limits import MAX_LATE_S, Slots
from shops.db.pacing import Pace
from tests.support.threads import in_threads

RATE = 40.0


def call_times(slots: Slots, count: int, stop: Event) -> list[float]:
    times = []
    for _ in range(count):
        assert slots.wait(stop)
        connection.close()
        times.append(time.monotonic())
    return times


def most_in(times: list[float], window_s: float) -> int:
    """Return the largest number of calls in any window."""
    return max(sum(begin <= moment < begin + window_s for moment in times) for begin in times)


def test_processes_together_keep_the_limit(transactional_db: None, settings: Settings) -> None:
    settings.TRACKING_RATES = {"alpha": RATE, "beta": RATE}
    processes, stop = [Slots("alpha") for _ in range(3)], Event()
    began = time.monotonic()
    found = in_threads(6, lambda number: call_times(processes[number % 3], 15, stop))
    times = sorted(chain.from_iterable(found))
    assert len(times) == 90
    assert most_in(times, 1.0) <= RATE * (1 + MAX_LATE_S) + 1
    assert times[-1] - began >= 89 / RATE - MAX_LATE_S


def test_each_carrier_has_a_limit_of_its_own(transactional_db: None, settings: Settings) -> None:
    settings.TRACKING_RATES = {"alpha": 0.001, "beta": RATE}
    assert Slots("alpha").wait(Event())
    assert Slots("beta").wait(Event())
    assert sorted(Pace.objects.values_list("name", flat=True)) == ["tracking alpha", "tracking beta"]


def test_a_wait_ends_when_the_process_stops(transactional_db: None, settings: Settings) -> None:
    settings.TRACKING_RATES = {"alpha": 0.001}
    slots, stop = Slots("alpha"), Event()
    assert slots.wait(stop)

    def wait(number: int) -> bool:
        if number:
            stop.set()
            return False
        return slots.wait(stop)

    assert in_threads(2, wait) == [False, False]


def test_a_slot_that_is_too_late_is_given_up(transactional_db: None, settings: Settings) -> None:
    settings.TRACKING_RATES = {"alpha": 10.0}
    slots = Slots("alpha")
    slots._slots.extend([time.monotonic() - 2 * MAX_LATE_S] * 5)
    assert slots.wait(Event())
    assert Pace.objects.exists()  # it has reserved others
