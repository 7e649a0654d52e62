"""Figures of parcels: counts by status and timing, and of the parcels that are followed."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config.retention import apply_retention
from parcels.figures.counting import recount
from parcels.figures.models import DayFigure, ParcelFigure, TrackingFigure
from parcels.models import Parcel, TrackingNumber
from parcels.personal_data.retention import remove_parcels
from parcels.tracking.events import milliseconds
from shops.models import Shop
from shops.staff import days, figures
from shops.staff.figures import Recount
from tests.support.factories import EventFactory, import_parcel, ms_ago, promise

pytestmark = pytest.mark.django_db
DAY_MS = 86_400_000


def delivered(shop: Shop, *, at: int, end: int | None) -> None:
    import_parcel(
        shop,
        createdAt=ms_ago(5),
        lastStatus="DELIVERED",
        lastStatusUpdatedAt=at,
        deliveryDate=at,
        estimatedDeliveryDateWindow=None if end is None else promise(end),
    )


def counted(field: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, parcels in ParcelFigure.objects.values_list(field, "parcels"):
        found[name] = found.get(name, 0) + parcels
    return found


def test_a_parcel_is_silent_whatever_its_events_notifications_hold(shop: Shop) -> None:
    at = ms_ago(5)
    event = EventFactory(createdAt=at, notifications=[{"createdAt": 1, "to": '\0 \\ "createdAt":1'}])
    import_parcel(shop, createdAt=at, lastStatus="IN_TRANSIT", lastStatusUpdatedAt=at, events=[event])
    recount()
    figure = TrackingFigure.objects.get()
    assert figure.silent == {"3": 1, "7": 0, "14": 0}


def test_parcels_of_the_last_thirty_days_are_counted_by_status(shop: Shop) -> None:
    for ago, status in ((0, "IN_TRANSIT"), (1, "IN_TRANSIT"), (29, None), (31, "IN_TRANSIT")):
        day = days.start_of(days.today() - timedelta(days=ago))  # of 25 hours, maybe
        import_parcel(shop, createdAt=round(day.timestamp() * 1000), lastStatus=status)
    recount()
    assert counted("status") == {"IN_TRANSIT": 2, "": 1}


def test_a_delivery_at_the_end_of_its_window_is_on_time_and_one_after_it_is_late(shop: Shop) -> None:
    now = ms_ago(0)
    for at, end in ((now, now), (now - 1, now), (now + 1, now), (now, None)):
        delivered(shop, at=at, end=end)
    import_parcel(shop, createdAt=ms_ago(5), lastStatus="IN_TRANSIT", estimatedDeliveryDateWindow=promise(now - DAY_MS))
    recount()
    assert counted("timing") == {"on_time": 2, "late": 1, "overdue": 1, "": 1}


def test_a_change_of_status_is_in_the_next_count_and_old_days_leave(shop: Shop) -> None:
    import_parcel(shop, createdAt=ms_ago(2), lastStatus="IN_TRANSIT")
    recount()
    Parcel.objects.update(last_status="EXCEPTION")
    ParcelFigure.objects.create(
        day=timezone.now() - timedelta(days=40), carrier_code="beta", status="DELIVERED", parcels=7
    )
    recount()
    assert counted("status") == {"EXCEPTION": 1}
    assert figures.counted_at(figures.PARCELS) is not None


def test_what_is_told_late_of_the_months_before_is_counted_at_the_first_count_of_a_day(shop: Shop) -> None:
    recount()
    first = (days.today() - timedelta(days=62)).replace(day=1)
    for day in (first - timedelta(days=1), first, first + timedelta(days=20)):
        at = milliseconds(days.start_of(day))
        import_parcel(shop, createdAt=at - DAY_MS, lastStatus="DELIVERED", lastStatusUpdatedAt=at, deliveryDate=at)
    recount()
    assert not DayFigure.objects.exists()
    Recount.objects.update(counted_at=days.start_of(days.today()) - timedelta(seconds=1))
    recount()
    counted = {figure.day: figure.delivered for figure in DayFigure.objects.all()}
    assert counted == {first: 1, first + timedelta(days=20): 1}


def test_days_of_months_without_a_count_are_counted_by_the_next(shop: Shop) -> None:
    """The figures are for ever, and `work` may have been away for longer than the first count of a day goes back."""
    at = ms_ago(110)
    import_parcel(shop, createdAt=at, lastStatus="DELIVERED", lastStatusUpdatedAt=at, deliveryDate=at)
    figures.note(figures.PARCELS, timezone.now() - timedelta(days=120))
    recount()
    assert DayFigure.objects.get(delivered=1).day == days.day_of(timezone.now() - timedelta(days=110))


def test_a_day_whose_parcels_may_be_removed_by_their_age_keeps_its_figures(shop: Shop, settings: Any) -> None:
    settings.KEEP_PARCELS_DAYS = 10
    DayFigure.objects.create(day=days.today() - timedelta(days=11), shop=shop, carrier_code="beta", delivered=7)
    recount()
    assert DayFigure.objects.get().delivered == 7


def test_a_day_keeps_its_figures_when_some_of_its_parcels_are_removed_by_their_age(shop: Shop, settings: Any) -> None:
    at = ms_ago(10)
    for updated_at in (at, ms_ago(9)):
        times = {"createdAt": at, "lastStatusUpdatedAt": at, "deliveryDate": at, "updatedAt": updated_at}
        import_parcel(shop, lastStatus="DELIVERED", **times)
    recount()
    settings.KEEP_PARCELS_DAYS = 10
    removed = {kind.name: count for kind, count in apply_retention()}
    recount()
    assert removed["parcels"] == 1
    assert DayFigure.objects.get(delivered__gt=0).delivered == 2


@pytest.mark.parametrize("later", [400, None])
def test_a_day_keeps_its_figures_though_a_later_setting_would_have_kept_its_parcels(
    later: int | None, shop: Shop, settings: Any
) -> None:
    at = ms_ago(12)
    import_parcel(shop, createdAt=at, lastStatus="DELIVERED", lastStatusUpdatedAt=at, deliveryDate=at, updatedAt=at)
    recount()
    settings.KEEP_PARCELS_DAYS = 10
    assert {kind.name: count for kind, count in apply_retention()}["parcels"] == 1
    settings.KEEP_PARCELS_DAYS = later
    list(apply_retention())
    recount()
    assert DayFigure.objects.get(delivered__gt=0).day == days.day_of(timezone.now() - timedelta(days=12))


def test_today_is_counted_though_a_removal_was_noted_by_a_clock_that_was_ahead(shop: Shop) -> None:
    remove_parcels(before=timezone.now() + timedelta(days=5), batch_size=5, is_dry_run=False)
    at = ms_ago(0)
    import_parcel(shop, createdAt=at, lastStatus="DELIVERED", lastStatusUpdatedAt=at, deliveryDate=at, updatedAt=at)
    recount()
    assert DayFigure.objects.get(delivered__gt=0).day == days.today()


def followed(shop: Shop, *, created: float, event: float | None = None, **fields: Any) -> None:
    made = import_parcel(shop, createdAt=ms_ago(created), lastStatus="IN_TRANSIT", carrierCode="beta")
    now = timezone.now()
    facts = {"due_at": now + timedelta(hours=1), "last_event_at": None if event is None else ms_ago(event)}
    TrackingNumber.objects.filter(parcel=made["id"]).update(**facts | fields)


def test_followed_parcels_are_counted_by_the_days_since_their_last_news(shop: Shop) -> None:
    answered_at = timezone.now() - timedelta(minutes=3)
    followed(shop, created=1)
    followed(shop, created=4)
    followed(shop, created=10, event=8)
    followed(shop, created=20, event=1, checked_at=answered_at)
    followed(shop, created=20)
    followed(shop, created=20, due_at=None)
    recount()
    figure = TrackingFigure.objects.get()
    assert (figure.carrier_code, figure.followed) == ("beta", 5)
    assert figure.silent == {"3": 3, "7": 2, "14": 1}
    assert figure.last_answer_at == answered_at
    assert figure.due_since is None


def test_the_earliest_question_that_is_due_is_kept(shop: Shop) -> None:
    due_since = timezone.now() - timedelta(minutes=20)
    followed(shop, created=1, due_at=due_since)
    followed(shop, created=1, due_at=timezone.now() - timedelta(minutes=10))
    followed(shop, created=1)
    recount()
    assert TrackingFigure.objects.get().due_since == due_since
