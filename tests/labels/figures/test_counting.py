"""Figures of labels: equal to the labels after every change, whichever days are counted again."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labels.admin.figures import labels_url
from labels.figures.counting import changed_days, days_of_late_changes, recount
from labels.figures.models import LabelFigure
from labels.models import LabelState, ShippingLabel
from shops.models import Shop
from shops.staff import figures
from shops.staff.days import bounds, day_of
from shops.staff.figures import Recount
from shops.staff.panels import created
from tests.labels.factories import LabelFactory
from tests.support.api import logged_in
from tests.support.factories import ShopFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop() -> Shop:
    return ShopFactory(id="lumiere")


def counted() -> list[tuple[Any, ...]]:
    rows = LabelFigure.objects.values_list("shop", "carrier_code", "state", "error_code", "labels", "parcels", "grams")
    return list(rows)


def state_of(label: ShippingLabel) -> str:
    """The state that the label's day has one label in."""
    figure = LabelFigure.objects.get(day=day_of(label.created_at))
    assert figure.labels == 1
    return figure.state


def counted_before(**ago: float) -> None:
    """Let the last count be of an earlier moment."""
    recount()
    Recount.objects.update(counted_at=timezone.now() - timedelta(**ago))


def test_labels_are_counted_by_shop_carrier_state_and_reason_with_their_parcels_and_weights(shop: Shop) -> None:
    LabelFactory(shop=shop, weights_kg=["1.25", "0.105"])
    LabelFactory(shop=shop, weights_kg=["1.25", "0.105"])
    LabelFactory(shop=shop, weights_kg=["30"])
    LabelFactory(shop=shop, carrier_code="alpha", state="cancelled", weights_kg=["0.3333", "0.3333"])
    LabelFactory(shop=shop, state="failed", error_code="BETA_UNAVAILABLE", weights_kg=["2"])
    LabelFactory(shop=ShopFactory(id="other"), weights_kg=["2"])
    recount()
    assert counted() == [
        ("lumiere", "alpha", "cancelled", "", 1, 2, 667),
        ("lumiere", "beta", "failed", "BETA_UNAVAILABLE", 1, 1, 2000),
        ("lumiere", "beta", "label_generated", "", 3, 5, 32_710),
        ("other", "beta", "label_generated", "", 1, 1, 2000),
    ]


@pytest.mark.parametrize("day", [date(2026, 3, 1), date(2026, 3, 29), date(2025, 10, 26)])
def test_the_first_count_is_of_all_days_and_a_day_begins_at_midnight_in_paris(
    shop: Shop, day: date, monkeypatch: pytest.MonkeyPatch
) -> None:
    midnight, end = bounds(day)
    monkeypatch.setattr("labels.figures.counting.clock.now", lambda: end)
    half_an_hour = timedelta(minutes=30)
    for created_at in (midnight - half_an_hour, midnight, midnight + half_an_hour, end - half_an_hour):
        LabelFactory(shop=shop, created_at=created_at)
    recount()
    days = dict(LabelFigure.objects.values_list("day", "labels"))
    assert days == {day - timedelta(days=1): 1, day: 3}
    staff = logged_in("view_shippinglabel")
    for each, labels in days.items():
        link = labels_url(**created(each, each))
        assert len(staff.get(link).context["cl"].queryset) == labels


def test_days_that_an_earlier_version_counted_in_another_time_zone_are_counted_from_the_start(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labels.figures.counting.clock.now", lambda: datetime(2026, 3, 3, tzinfo=UTC))
    LabelFactory(shop=shop, created_at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    recount()
    LabelFigure.objects.update(day=date(2026, 3, 1))
    Recount.objects.update(time_zone="UTC")
    assert figures.counted_at(figures.LABELS) is None
    recount()
    assert LabelFigure.objects.get().day == date(2026, 3, 2)


def test_a_wrong_figure_of_a_day_is_put_right_by_its_next_count(shop: Shop) -> None:
    LabelFactory(shop=shop)
    recount()
    LabelFigure.objects.update(labels=99)
    recount()
    assert LabelFigure.objects.get().labels == 1


@pytest.mark.parametrize(
    ("state", "then"),
    [*((state, "failed") for state in ("unknown", "incomplete", "cancelling")), ("label_generated", "cancelled")],
)
def test_an_old_label_is_counted_in_the_state_that_it_has_come_to(shop: Shop, state: str, then: str) -> None:
    label = LabelFactory(shop=shop, state=state, days_ago=100)
    counted_before(minutes=5)
    assert state_of(label) == state
    requested_at = timezone.now() if then == "cancelled" else None
    ShippingLabel.objects.update(state=then, cancel_requested_at=requested_at)
    recount()
    assert state_of(label) == then


def test_the_first_count_of_a_day_finds_what_no_other_looked_for(shop: Shop) -> None:
    label = LabelFactory(shop=shop, days_ago=20)
    counted_before(minutes=1)
    ShippingLabel.objects.update(state=LabelState.FAILED)
    if day_of(timezone.now()) == day_of(timezone.now() - timedelta(minutes=1)):
        recount()
        assert state_of(label) == LabelState.GENERATED
    counted_before(days=1)
    recount()
    assert state_of(label) == LabelState.FAILED


def test_labels_of_weeks_without_a_count_are_counted_by_the_next(shop: Shop) -> None:
    """The figures are for ever, and `work` may have been away for longer than the first count of a day goes back."""
    LabelFactory(shop=shop, days_ago=70)
    counted_before(days=60)
    LabelFactory(shop=shop, days_ago=50)
    recount()
    assert LabelFigure.objects.count() == 2


def test_an_ordinary_count_reads_the_labels_of_the_day_only(shop: Shop) -> None:
    now = datetime(2026, 3, 10, 14, 0, tzinfo=UTC)
    for days in (0, 1, 40):
        LabelFactory(shop=shop, created_at=now - timedelta(days=days))
    assert changed_days(now - timedelta(minutes=5), now) == [now.date()]
    yesterday = now.date() - timedelta(days=1)
    midnight = datetime(2026, 3, 9, 23, 5, tzinfo=UTC)
    assert changed_days(midnight - timedelta(minutes=4), midnight) == [yesterday, now.date()]


def test_days_whose_labels_wait_for_a_person_are_not_counted_again(shop: Shop) -> None:
    last = timezone.now() - timedelta(minutes=5)
    for days in range(40):
        LabelFactory(shop=shop, state=LabelState.UNKNOWN, days_ago=days + 60)
    counted_before(minutes=5)
    with CaptureQueriesContext(connection) as captured:
        assert days_of_late_changes(last) == set()
    assert len(captured) == 3
    decided = ShippingLabel.objects.order_by("id")[0]
    ShippingLabel.objects.filter(id=decided.id).update(state=LabelState.FAILED)
    assert days_of_late_changes(last) == {day_of(decided.created_at)}


def test_an_old_label_that_waits_for_another_reason_is_counted_again(shop: Shop) -> None:
    label = LabelFactory(shop=shop, state=LabelState.UNKNOWN, days_ago=100)
    counted_before(minutes=5)
    ShippingLabel.objects.update(error_code="ALPHA_OUTCOME_UNKNOWN")
    recount()
    assert LabelFigure.objects.get(day=day_of(label.created_at)).error_code == "ALPHA_OUTCOME_UNKNOWN"


def test_an_interrupted_count_is_begun_again_by_the_next(shop: Shop) -> None:
    LabelFactory(shop=shop, days_ago=3)
    stops = iter([False, True])
    recount(lambda: next(stops))
    assert figures.counted_at(figures.LABELS) is None
    recount()
    assert len(counted()) == 1
    assert figures.counted_at(figures.LABELS) is not None


def test_a_day_costs_the_same_queries_however_many_labels_it_has(shop: Shop) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            recount()
        return len(captured)

    LabelFactory(shop=shop)
    recount()
    before = queries()
    LabelFactory.create_batch(5, shop=shop)
    assert queries() == before
