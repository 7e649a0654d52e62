"""The timeline of a parcel: the same reports and events give the same, and each rule by an example."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carriers.tracking import Status
from parcels.models import Parcel
from parcels.tracking.events import MAX_EVENTS, CarrierEvent, union
from parcels.tracking.shop_report import merge_with_stored
from parcels.tracking.steps import FINAL, moved_numbers
from parcels.tracking.timeline import Timeline, derive, set_timeline
from tests.models.statuses import STATUS_OF
from tests.models.statuses import derive as as_the_page_says
from tests.parcels.tracking.histories import NUMBERS, News, histories, in_other_batches, told

S = Status


def event(at: int, status: Status | None, code: str = "X", number: str = "N1", **fields: Any) -> CarrierEvent:
    made = CarrierEvent(number, code, at, text="", place="", status=status, is_listed=True)
    return made._replace(**fields)


def status_of(*events: CarrierEvent, **options: Any) -> str | None:
    return derive(**{"reported": None} | options, events=union(events)).last_status


def reported(status: Status | None, at: int | None, **fields: Any) -> Timeline:
    return Timeline(last_status=status and str(status), last_status_updated_at=at, **fields)


def shop_event(status: Status, at: int, code: str | None = None) -> dict[str, Any]:
    told = {"label": "shop", "isNotificationSkipped": False, "notifications": [{"type": "sms"}]}
    return {"status": str(status), "createdAt": at, "carrierStatusCode": code} | told


# --- Whatever comes ---


@settings(max_examples=500)
@given(news=histories, seed=st.integers(0, 2**32), size=st.integers(1, 5))
def test_the_same_news_give_the_same_timeline_in_any_order_and_batches(news: list[News], seed: int, size: int) -> None:
    shuffled = [*news, *news]
    Random(seed).shuffle(shuffled)
    cut = in_other_batches(news, size)
    Random(seed).shuffle(cut)
    assert told(news) == told(shuffled) == told(cut)


@given(news=histories)
def test_a_timeline_is_in_order_and_has_each_event_once(news: list[News]) -> None:
    timeline = told(news)
    times = [each["createdAt"] for each in timeline.events]
    assert times == sorted(times, reverse=True)
    carriers = [each for each in timeline.events if each["isNotificationSkipped"]]
    keys = {(e.tracking_number, e.code, e.happened_at.astimezone(UTC)) for each in news for e in each.events}
    assert len(carriers) <= len(keys)
    assert all(each["status"] in set(Status) for each in timeline.events)


@given(news=histories)
def test_a_delivery_to_the_customer_has_a_date_and_nothing_else_does(news: list[News]) -> None:
    timeline = told([each for each in news if not each.report])
    assert (timeline.delivery_date is not None) == (timeline.last_status == S.DELIVERED)
    with_reports = told(news)
    assert with_reports.delivery_date is None or with_reports.last_status == S.DELIVERED


@given(news=histories)
def test_only_a_parcel_that_waits_has_an_end_of_its_deposit_by_the_carrier(news: list[News]) -> None:
    timeline = told([each for each in news if not each.report])
    ends = {event.kept_until for each in news for event in each.events}
    if timeline.end_deposit_date is not None:
        assert timeline.last_status == S.WAITING_FOR_PICKUP
        assert datetime.fromtimestamp(timeline.end_deposit_date / 1000, UTC) in ends


moments = st.integers(1, 9)
journeys = st.lists(st.tuples(moments, st.sampled_from(sorted(STATUS_OF))), max_size=5, unique_by=lambda told: told[0])
reports = st.none() | st.tuples(moments, st.sampled_from([str(status) for status in Status]))


@settings(max_examples=300)
@given(
    told=st.fixed_dictionaries({"N1": journeys, "N2": journeys}), bought=st.sets(st.sampled_from(NUMBERS)), by=reports
)
def test_the_status_and_the_delivery_are_those_of_the_tracking_page(
    told: dict[str, list[tuple[int, str]]], bought: set[str], by: tuple[int, str] | None
) -> None:
    """The page's words, as `tests.models.statuses` has them; of one number no two events are at one time."""
    scans = [
        event(at, S(name) if (name := STATUS_OF[code]) else None, code, number)
        for number, journey in told.items()
        for at, code in journey
    ]
    timeline = derive(reported=by and reported(S(by[1]), by[0]), events=union(scans), bought=bought)
    step = as_the_page_says(told, bought, by)
    assert timeline.last_status == (step and step.status)
    if step and step.at:
        assert timeline.last_status_updated_at == step.at
    is_delivered = step and step.is_carrier and step.status == S.DELIVERED
    assert timeline.delivery_date == (step.at if step and is_delivered else None)


# --- The rules ---


def test_events_without_a_status_leave_it_null() -> None:
    timeline = derive(reported=None, events=[event(1, None, "SM", text="Message")])
    assert (timeline.last_status, timeline.last_status_updated_at) == (None, None)
    assert timeline.carrier_last_status == {"code": "SM", "description": "Message", "date": 1}
    assert [each["status"] for each in timeline.events] == [S.FULFILLED]


def test_a_delivery_after_a_return_is_shown_as_one_to_the_sender() -> None:
    journey = [event(1, S.RETURN_TO_SENDER), event(2, S.IN_TRANSIT), event(3, S.DELIVERED)]
    assert derive(reported=None, events=journey).events[0]["status"] == S.RETURNED_TO_SENDER


def test_a_returned_parcel_stays_returned() -> None:
    for status in Status:
        assert status_of(event(1, S.RETURNED_TO_SENDER), event(2, status)) == S.RETURNED_TO_SENDER


def test_an_event_of_each_number_is_an_event_of_its_own() -> None:
    both = [event(1, S.IN_TRANSIT), event(1, S.IN_TRANSIT, number="N2"), event(1, S.IN_TRANSIT)]
    assert len(derive(reported=None, events=union(both)).events) == 2


def test_an_event_without_a_status_is_shown_with_its_numbers_status_before() -> None:
    journey = [
        event(1, S.IN_TRANSIT),
        event(2, S.OUT_FOR_DELIVERY, number="N2"),
        event(3, None),
        event(4, None, number="N2"),
    ]
    shown = [each["status"] for each in derive(reported=None, events=journey).events]
    assert shown == [S.OUT_FOR_DELIVERY, S.IN_TRANSIT, S.OUT_FOR_DELIVERY, S.IN_TRANSIT]


def test_an_event_without_a_status_is_shown_with_what_the_shop_said_before_it() -> None:
    """tracking.md, 5: `status` is that of its code, or the one before when it has none."""
    messages = [event(at, None, "SM") for at in (4, 6, 8)]
    shop = reported(S.OUT_FOR_DELIVERY, 5, events=[shop_event(S.OUT_FOR_DELIVERY, 5)])
    for scans, expected in (
        ([], [S.OUT_FOR_DELIVERY, S.OUT_FOR_DELIVERY, S.OUT_FOR_DELIVERY, S.FULFILLED]),
        ([event(3, S.IN_TRANSIT)], [S.OUT_FOR_DELIVERY, S.OUT_FOR_DELIVERY, S.OUT_FOR_DELIVERY, S.IN_TRANSIT]),
        ([event(5, S.EXCEPTION)], [S.EXCEPTION, S.EXCEPTION]),  # of one time, the carrier is the master
        ([event(7, S.EXCEPTION)], [S.EXCEPTION, S.EXCEPTION, S.OUT_FOR_DELIVERY, S.OUT_FOR_DELIVERY, S.FULFILLED]),
    ):
        timeline = derive(reported=shop, events=[*messages, *scans])
        assert [each["status"] for each in timeline.events][: len(expected)] == expected


def test_of_events_at_one_time_the_carriers_last_is_the_newest_else_the_most_advanced() -> None:
    advanced, behind = event(1, S.OUT_FOR_DELIVERY, "TA"), event(1, S.DELIVERY_FAILURE, "P")
    assert status_of(advanced, behind) == S.OUT_FOR_DELIVERY
    for later in ([behind._replace(rank=1)], [behind._replace(rank=1), behind]):
        assert status_of(advanced, *later) == S.DELIVERY_FAILURE


def test_a_listed_event_that_once_changed_nothing_never_does() -> None:
    for both in ([None, S.DELIVERED], [S.DELIVERED, None]):
        assert status_of(event(1, S.FULFILLED), *(event(2, status, "D") for status in both)) == S.FULFILLED


def test_an_unlisted_event_keeps_the_status_that_it_had_as_the_newest() -> None:
    for both in ([None, S.IN_TRANSIT], [S.IN_TRANSIT, None]):
        assert status_of(*(event(1, status, "NEW", is_listed=False) for status in both)) == S.IN_TRANSIT


def test_a_row_keeps_the_newest_events_of_an_endless_history() -> None:
    found = union(event(at, S.IN_TRANSIT) for at in range(2 * MAX_EVENTS))
    assert [each.at for each in found] == list(range(MAX_EVENTS, 2 * MAX_EVENTS))


def test_the_hour_that_comes_twice_is_two_times() -> None:
    night = [datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1)]  # 02:30 in summer and in winter time
    early, late = (round(moment.timestamp() * 1000) for moment in night)
    timeline = derive(reported=None, events=[event(late, S.DELIVERED), event(early, S.OUT_FOR_DELIVERY)])
    assert (timeline.last_status, timeline.delivery_date) == (S.DELIVERED, late)


# --- With the shop's reports ---


def test_a_report_alone_is_told_unchanged() -> None:
    history = [shop_event(S.IN_TRANSIT, 5), shop_event(S.FULFILLED, 5), shop_event(S.DELIVERED, 1, "D")]
    timeline = reported(S.EXCEPTION, 3, delivery_date=9, end_deposit_date=8, events=history)
    assert derive(reported=timeline, events=[]) == timeline


def test_a_report_without_a_status_or_its_time_changes_none() -> None:
    carrier = event(5, S.IN_TRANSIT)
    assert status_of(carrier, reported=reported(S.OUT_FOR_DELIVERY, None)) == S.IN_TRANSIT
    assert status_of(carrier, reported=reported(None, 9)) == S.IN_TRANSIT


def test_the_shops_newer_status_keeps_the_shops_dates() -> None:
    timeline = derive(
        reported=reported(S.DELIVERED, 6, delivery_date=5, end_deposit_date=7), events=[event(4, S.IN_TRANSIT)]
    )
    assert (timeline.delivery_date, timeline.last_status_updated_at, timeline.end_deposit_date) == (5, 6, 7)


def test_a_delivery_that_the_shop_tells_of_after_a_return_is_none_to_the_customer() -> None:
    timeline = derive(reported=reported(S.DELIVERED, 6, delivery_date=6), events=[event(4, S.RETURN_TO_SENDER)])
    assert (timeline.last_status, timeline.delivery_date) == (S.RETURNED_TO_SENDER, None)


def end_of(*events: CarrierEvent, shop: Timeline | None = None) -> int | None:
    return derive(reported=shop, events=union(events)).end_deposit_date


def test_a_waiting_parcel_has_the_first_end_of_its_deposit_until_it_moves_on() -> None:
    arrived = event(1, S.WAITING_FOR_PICKUP, "AARBPR", kept_until=11)
    again = [event(2, None), event(3, S.WAITING_FOR_PICKUP), event(4, S.WAITING_FOR_PICKUP, kept_until=14)]
    assert end_of(arrived) == end_of(arrived, *again) == 11
    for status in set(Status) - {S.WAITING_FOR_PICKUP}:
        assert end_of(arrived, event(2, status)) is None
    assert end_of(arrived, event(2, S.IN_TRANSIT), event(3, S.WAITING_FOR_PICKUP)) is None
    assert end_of(arrived, event(2, S.IN_TRANSIT), event(3, S.WAITING_FOR_PICKUP, kept_until=13)) == 13
    assert end_of(event(0, S.DELIVERED), arrived) is None
    assert end_of(event(0, S.RETURN_TO_SENDER), arrived) is None


def test_the_shops_end_of_a_deposit_stays_until_the_carrier_tells_one() -> None:
    shop = reported(S.WAITING_FOR_PICKUP, 5, end_deposit_date=9)
    assert end_of(event(1, S.IN_TRANSIT), shop=shop) == 9
    assert end_of(event(6, S.WAITING_FOR_PICKUP), shop=shop) == 9
    assert end_of(event(6, S.WAITING_FOR_PICKUP, kept_until=16), shop=shop) == 16
    assert end_of(event(4, S.WAITING_FOR_PICKUP, kept_until=14), shop=shop) == 14
    assert end_of(event(6, S.DELIVERED), shop=shop) is None
    assert end_of(event(4, S.RETURN_TO_SENDER), shop=shop) == 9


def test_a_return_that_the_shop_told_of_is_remembered() -> None:
    history = [shop_event(S.IN_TRANSIT, 3), shop_event(S.RETURN_TO_SENDER, 2)]
    timeline = derive(reported=reported(S.IN_TRANSIT, 3, events=history), events=[event(4, S.DELIVERED)])
    assert timeline.last_status == timeline.events[0]["status"] == S.RETURNED_TO_SENDER


def test_an_event_that_both_report_is_one_with_the_shops_notifications() -> None:
    timeline = derive(
        reported=reported(S.IN_TRANSIT, 1, events=[shop_event(S.IN_TRANSIT, 1, "SC"), shop_event(S.FULFILLED, 1)]),
        events=[event(1, S.IN_TRANSIT, "SC", text="Sorted"), event(2, S.IN_TRANSIT, "SC", text="Sorted")],
    )
    assert [(each["createdAt"], each["label"], each["notifications"]) for each in timeline.events] == [
        (2, "Sorted", []),
        (1, "Sorted", [{"type": "sms"}]),
        (1, "shop", [{"type": "sms"}]),
    ]


def test_the_carriers_last_status_is_the_newest_that_either_reports() -> None:
    shops = {"code": "B10", "description": "Acheminement", "date": 5}
    for at, code in ((4, "B10"), (5, "SC"), (6, "SC")):
        timeline = derive(reported=reported(None, None, carrier_last_status=shops), events=[event(at, None, "SC")])
        assert timeline.carrier_last_status is not None
        assert timeline.carrier_last_status["code"] == code


def test_the_carriers_expected_delivery_replaces_the_shops() -> None:
    shops = {"exactDeliveryDay": 1, "minimumDeliveryDate": 1, "maximumDeliveryDate": 1}
    report = reported(S.IN_TRANSIT, 1, estimated_delivery_date_window=shops)
    assert derive(reported=report, events=[]).estimated_delivery_date_window == shops
    told = derive(reported=report, events=[], expected={"from": 7, "until": 9}).estimated_delivery_date_window
    assert told == {"exactDeliveryDay": 7, "minimumDeliveryDate": 7, "maximumDeliveryDate": 9}


def imported(status: Status, at: int, day: int) -> Parcel:
    """Make a parcel as an import of a day gives it."""
    parcel = Parcel(imported_at=datetime(2026, 11, day, tzinfo=UTC), updated_at=at)
    set_timeline(parcel, reported(status, at))
    return parcel


@pytest.mark.parametrize(
    ("stored", "new", "shown"),
    [
        ((S.IN_TRANSIT, 1, 9), (S.DELIVERED, 2, 1), S.DELIVERED),
        ((S.DELIVERED, 2, 1), (S.IN_TRANSIT, 1, 9), S.DELIVERED),
        ((S.DELIVERED, 2, 1), (S.EXCEPTION, 2, 2), S.EXCEPTION),
        ((S.EXCEPTION, 2, 2), (S.DELIVERED, 2, 1), S.EXCEPTION),
        ((S.DELIVERED, 2, 1), (S.EXCEPTION, 2, 1), S.EXCEPTION),
    ],
)
def test_the_newest_report_speaks_for_the_shop_and_of_equal_ones_the_later(
    stored: tuple[Status, int, int], new: tuple[Status, int, int], shown: Status
) -> None:
    parcel = imported(*new)
    merge_with_stored(parcel, imported(*stored))
    assert (parcel.last_status, parcel.updated_at) == (shown, max(stored[1], new[1]))


def test_a_parcel_that_was_only_announced_has_not_moved() -> None:
    assert not moved_numbers([event(1, S.FULFILLED), event(2, None)])
    assert moved_numbers([event(1, S.FULFILLED), event(2, S.IN_TRANSIT)])


def test_all_final_statuses_are_those_that_end_the_questions() -> None:
    assert {S.DELIVERED, S.RETURNED_TO_SENDER} == FINAL
