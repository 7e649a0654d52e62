"""A label's id tells its time, and ids are in the order of time."""

from datetime import UTC, datetime, timedelta

import pytest

from labels.ids import id_prefix, id_time, new_label_id


@pytest.mark.parametrize(
    "moment", ["2025-01-01T00:00+00:00", "2026-02-28T23:59:59.999+00:00", "2113-12-31T23:59+00:00"]
)
def test_a_label_id_tells_its_time_to_the_millisecond(moment: str) -> None:
    made_at = datetime.fromisoformat(moment)
    assert id_time(id_prefix(made_at)) == made_at
    assert id_prefix(made_at) < id_prefix(made_at + timedelta(milliseconds=1))


def test_a_new_label_id_tells_the_present_time() -> None:
    assert abs(id_time(new_label_id()) - datetime.now(UTC)) < timedelta(minutes=1)
