"""The answers of point services that a process remembers."""

import pytest

from carriers import pickup_points
from carriers.errors import CarrierUnavailable, PickupPointRejected
from carriers.pickup_points import FRESH_S, PickupPointCache
from carriers.shipment import PickupPoint

KEY = ("FR", "1234A")
POINT = PickupPoint("1234A")


class Clock:
    """Time that a test sets."""

    now_s = 1_000_000.0

    def monotonic(self) -> float:
        return self.now_s


def down() -> PickupPoint:
    raise CarrierUnavailable("alpha", "down")


def gone() -> PickupPoint:
    raise PickupPointRejected("alpha", "is unknown")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pickup_points, "time", made)
    return made


def test_an_answer_serves_for_an_hour_and_stands_in_for_a_service_that_is_down(clock: Clock) -> None:
    cache = PickupPointCache()
    assert cache.get(KEY, lambda: POINT) is POINT
    clock.now_s += FRESH_S - 1
    assert cache.get(KEY, gone) is POINT  # not asked
    clock.now_s += 2
    assert cache.get(KEY, down) is POINT
    with pytest.raises(PickupPointRejected):
        cache.get(KEY, gone)


def test_without_an_answer_a_service_that_is_down_is_an_error(clock: Clock) -> None:
    with pytest.raises(CarrierUnavailable):
        PickupPointCache().get(KEY, down)
