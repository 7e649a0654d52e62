"""The end of a deposit at a post office, as beta's tracking client tells it."""

from datetime import UTC, datetime

import pytest

from tests.carriers.conftest import Serve
from tests.carriers.support.tracking import beta_event, beta_timeline, told


@pytest.mark.parametrize(
    ("arrived", "until"),
    [
        ("2026-03-02T12:00:00", datetime(2026, 3, 13, 11, 0, tzinfo=UTC)),  # a Monday to the Friday of the next week
        ("2026-03-01T12:00:00", datetime(2026, 3, 12, 11, 0, tzinfo=UTC)),  # a Sunday
        ("2026-03-07T12:00:00", datetime(2026, 3, 19, 11, 0, tzinfo=UTC)),  # a Saturday
        ("2026-03-20T12:00:00", datetime(2026, 4, 1, 10, 0, tzinfo=UTC)),  # over the beginning of summer time
    ],
)
def test_a_post_office_keeps_a_parcel_for_ten_working_days(serve: Serve, arrived: str, until: datetime) -> None:
    (event,) = told(serve, "beta", beta_timeline(beta_event("AARBPR", arrived))).events

    assert event.kept_until == until


@pytest.mark.parametrize(
    ("code", "text", "is_told"),
    [
        ("AARREL", "Votre colis est disponible en point relais", False),
        ("AARRLX", "Votre colis vous attend dans votre Bureau de Poste", True),
        ("RENAPR", "Votre colis est disponible", False),
        ("PCHTRI", "Votre colis part vers le bureau de poste", False),
        ("QQQQQQ", "Votre colis est au bureau de poste", False),
    ],
)
def test_elsewhere_the_end_is_told_only_if_the_text_names_a_post_office(
    serve: Serve, code: str, text: str, is_told: bool
) -> None:
    (event,) = told(serve, "beta", beta_timeline(beta_event(code, "2026-03-02T12:00:00", text))).events

    assert (event.kept_until is not None) == is_told
