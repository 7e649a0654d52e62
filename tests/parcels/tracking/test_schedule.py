"""The time at which a parcel's carrier is asked next, by the table of the tracking page."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django.fixtures import Settings

from parcels.models import NumberState, TrackingNumber
from parcels.tracking.events import milliseconds
from parcels.tracking.schedule import next_check, next_try

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)  # 11 h in Paris
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def check(
    status: str | None = "IN_TRANSIT",
    *,
    age: timedelta = DAY,
    followed: timedelta = DAY,
    is_known: bool = True,
    silent: timedelta = HOUR,
    is_bought: bool = False,
    now: datetime = NOW,
    random: float = 0.5,
) -> timedelta | None:
    """Return the wait until the next question; 0.5 is no jitter."""
    number = TrackingNumber(
        created_at=milliseconds(now - age),
        followed_since=now - followed,
        last_event_at=milliseconds(now - silent) if is_known else None,
        state=NumberState.BOUGHT if is_bought else NumberState.REPORTED,
    )
    moment = next_check(number, status, now, lambda: random)
    return moment - now if moment else None


@pytest.mark.parametrize(
    ("status", "age", "wait"),
    [
        ("OUT_FOR_DELIVERY", DAY, 30 * MINUTE),
        ("IN_TRANSIT", DAY, 2 * HOUR),
        ("IN_TRANSIT", 89 * DAY, 2 * HOUR),
        ("WAITING_FOR_PICKUP", DAY, 6 * HOUR),
        ("EXCEPTION", DAY, 6 * HOUR),
        ("RETURN_TO_SENDER", DAY, 6 * HOUR),
        ("DELIVERY_FAILURE", DAY, 6 * HOUR),
        ("FULFILLED", 7 * DAY - MINUTE, 4 * HOUR),
        ("FULFILLED", 7 * DAY, DAY),
        (None, DAY, 4 * HOUR),
        (None, 8 * DAY, DAY),
        ("IN_TRANSIT", 90 * DAY, None),
        ("DELIVERED", DAY, DAY),
        ("RETURNED_TO_SENDER", DAY, None),
    ],
)
def test_a_known_parcel_is_asked_about_by_its_status_and_age(
    status: str | None, age: timedelta, wait: timedelta | None
) -> None:
    assert check(status, age=age) == wait


@pytest.mark.parametrize(
    ("followed", "wait"),
    [(MINUTE, HOUR), (DAY - MINUTE, HOUR), (DAY, 6 * HOUR), (15 * DAY - MINUTE, 6 * HOUR), (15 * DAY, None)],
)
def test_an_unknown_number_is_given_up_after_15_days(followed: timedelta, wait: timedelta | None) -> None:
    assert check(None, age=20 * DAY, followed=followed, is_known=False) == wait


def test_a_delivered_number_is_asked_about_for_a_week_after_its_last_event() -> None:
    assert check("DELIVERED", silent=7 * DAY - MINUTE) == DAY
    assert check("DELIVERED", silent=7 * DAY) is None
    assert check("DELIVERED", is_known=False) is None  # the shop alone says so


def test_a_bought_number_may_be_handed_in_after_15_days() -> None:
    assert check(None, age=20 * DAY, followed=20 * DAY, is_known=False, is_bought=True) == DAY
    assert check(None, age=90 * DAY, followed=90 * DAY, is_known=False, is_bought=True) is None


@pytest.mark.parametrize(
    ("hour", "next_hour"),
    [
        (datetime(2026, 11, 18, 19, 0, tzinfo=UTC), datetime(2026, 11, 18, 19, 30, tzinfo=UTC)),  # 20:30 in Paris
        (datetime(2026, 11, 18, 19, 40, tzinfo=UTC), datetime(2026, 11, 19, 6, 15, tzinfo=UTC)),  # 07:15 the next day
        (datetime(2026, 11, 19, 3, 0, tzinfo=UTC), datetime(2026, 11, 19, 6, 15, tzinfo=UTC)),
        (datetime(2026, 11, 19, 5, 45, tzinfo=UTC), datetime(2026, 11, 19, 6, 15, tzinfo=UTC)),
        (datetime(2026, 7, 18, 18, 40, tzinfo=UTC), datetime(2026, 7, 19, 5, 15, tzinfo=UTC)),  # in summer time
        (datetime(2026, 10, 24, 20, 0, tzinfo=UTC), datetime(2026, 10, 25, 6, 15, tzinfo=UTC)),  # the night it ends
    ],
)
def test_a_parcel_out_for_delivery_rests_at_night(hour: datetime, next_hour: datetime) -> None:
    assert hour + (check("OUT_FOR_DELIVERY", now=hour) or DAY) == next_hour


def test_the_interval_is_spread_by_a_tenth_to_either_side() -> None:
    assert (check(random=0), check(random=1)) == (1.8 * HOUR, 2.2 * HOUR)


def test_a_pace_shortens_all_waits(settings: Settings) -> None:
    settings.TRACKING_PACE = 720
    night = datetime(2026, 11, 18, 20, 30, tzinfo=UTC)
    assert check() == timedelta(seconds=10)
    assert (check("OUT_FOR_DELIVERY", now=night) or DAY) < MINUTE
    assert check(None, is_known=False, followed=MINUTE) == timedelta(seconds=5)


def test_after_failures_it_is_tried_later_and_later() -> None:
    tries = [next_try(count, NOW, lambda: 0.5) - NOW for count in (1, 2, 3, 6, 7, 500)]
    assert tries == [5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 160 * MINUTE, 4 * HOUR, 4 * HOUR]
