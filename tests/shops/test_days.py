"""Days as staff count them, around midnight and when the clock changes."""

from datetime import UTC, date, datetime, timedelta

import pytest

from shops.staff.days import bounds, day_of

SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-01-15T22:30Z", date(2026, 1, 15)),  # 23:30
        ("2026-01-15T23:30Z", date(2026, 1, 16)),  # 00:30
        ("2026-07-15T21:30Z", date(2026, 7, 15)),
        ("2026-07-15T22:30Z", date(2026, 7, 16)),
        ("2026-03-28T22:30Z", date(2026, 3, 28)),
        ("2026-03-28T23:30Z", SPRING),
        ("2026-03-29T21:30Z", SPRING),
        ("2026-03-29T22:30Z", date(2026, 3, 30)),
        ("2026-10-24T21:30Z", date(2026, 10, 24)),
        ("2026-10-24T22:30Z", AUTUMN),
        ("2026-10-25T22:30Z", AUTUMN),
        ("2026-10-25T23:30Z", date(2026, 10, 26)),
    ],
)
def test_half_past_eleven_is_the_day_and_half_past_midnight_the_next_in_paris(at: str, day: date) -> None:
    moment = datetime.fromisoformat(at)
    assert day_of(moment) == day
    first, end = bounds(day)
    assert first <= moment < end


def test_a_day_on_which_the_clock_changes_has_23_or_25_hours_and_no_gap_to_its_neighbours() -> None:
    for day, hours in ((SPRING, 23), (AUTUMN, 25), (date(2026, 6, 1), 24)):
        first, end = bounds(day)
        assert end - first == timedelta(hours=hours)
        assert bounds(day + timedelta(days=1))[0] == end
    assert bounds(SPRING)[0] == datetime(2026, 3, 28, 23, tzinfo=UTC)
