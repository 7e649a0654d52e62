"""Recording an answer: one transaction that writes what changed, counts what is new and plans the next question."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from carriers.alpha.tracking import CODES
from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from parcels.models import Parcel, TrackingNumber, UnlistedEventCode
from parcels.tracking import metrics
from tests.support.api import Caller
from tests.support.factories import import_parcel
from tests.support.tracking import number_of, record

S = Status
NOW = timezone.now().replace(microsecond=0)


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def event(hours: float, status: Status | None, code: str = "SC", number: str = "N1", **fields: Any) -> TrackingEvent:
    return TrackingEvent(number, code, ago(hours), fields.pop("text", "Sorted"), "PARIS", status, **fields)


def answer(*events: TrackingEvent, **fields: Any) -> TrackingAnswer:
    return TrackingAnswer("N1", is_known=bool(events), events=events, **fields)


def told(*answers: TrackingAnswer, parcel: str = "P1", now: datetime = NOW) -> Parcel:
    record(parcel, answers, now=now)
    return Parcel.objects.get(id=parcel)


def follow(caller: Caller, numbers: Sequence[str] = ("N1",), **fields: Any) -> Parcel:
    """Make a followed parcel whose status was imported ten hours ago."""
    at = ms(ago(10))
    imported: dict[str, Any] = {"createdAt": ms(ago(48)), "updatedAt": at, "lastStatusUpdatedAt": at, "events": []}
    status = {"lastStatus": "FULFILLED", "carrierLastStatus": None, "deliveryDate": None}
    numbered = {"id": "P1", "trackingId": numbers[0], "trackingNumbers": list(numbers), "carrierCode": "alpha"}
    import_parcel(caller.shop, **imported | status | numbered | fields)
    return Parcel.objects.get(id="P1")


def test_an_answer_is_the_parcels_story(own: Caller) -> None:
    follow(own)
    window = {"expected_from": ago(-24), "expected_until": ago(-25)}
    told(answer(event(3, S.IN_TRANSIT), event(1, S.OUT_FOR_DELIVERY, "TA", text="With the driver"), **window))
    found = own.look_up("N1").json()
    assert (found["lastStatus"], found["lastStatusUpdatedAt"]) == ("OUT_FOR_DELIVERY", ms(ago(1)))
    assert found["carrierLastStatus"] == {"code": "TA", "description": "With the driver", "date": ms(ago(1))}
    assert found["estimatedDeliveryDateWindow"]["maximumDeliveryDate"] == ms(ago(-25))
    assert found["updatedAt"] == ms(NOW)
    assert found["events"] == [
        {
            "status": status,
            "createdAt": ms(ago(hours)),
            "label": label,
            "carrierStatusCode": code,
            "isNotificationSkipped": True,
            "notifications": [],
        }
        for hours, status, code, label in [
            (1, "OUT_FOR_DELIVERY", "TA", "With the driver"),
            (3, "IN_TRANSIT", "SC", "Sorted"),
        ]
    ]


def test_the_number_that_names_the_parcel_stays_whatever_its_place(own: Caller) -> None:
    follow(own, ("N2", "N1"), trackingId="N1")
    assert told(answer(event(3, S.IN_TRANSIT))).tracking_id == "N1"


def test_the_row_keeps_the_answer_and_plans_the_next_question(own: Caller) -> None:
    follow(own)
    TrackingNumber.objects.update(leased_until=ago(-1), failures=3)
    told(answer(event(1, S.IN_TRANSIT)))
    row = number_of("P1")
    assert (row.checked_at, row.outcome, row.leased_until, row.failures) == (NOW, "known", None, 0)
    assert row.due_at is not None
    assert timedelta(hours=1.7) < row.due_at - NOW < timedelta(hours=2.3)
    assert row.last_event_at == ms(ago(1))
    assert [event["code"] for event in row.events] == ["SC"]
    assert row.parcel.reported["story"]["last_status"] == "FULFILLED"


def test_a_delivered_parcel_is_asked_about_once_a_day_for_it_may_be_fetched_back(own: Caller) -> None:
    follow(own)
    told(answer(event(1, S.DELIVERED, "D")))
    due_at = number_of("P1").due_at
    assert due_at is not None
    assert timedelta(hours=21) < due_at - NOW < timedelta(hours=27)
    assert own.look_up("N1").json()["deliveryDate"] == ms(ago(1))


def test_what_changes_moves_the_time_of_a_parcel_that_is_reported_by_a_clock_ahead(own: Caller) -> None:
    before = follow(own, updatedAt=ms(ago(-1)))
    assert told(answer(event(1, S.IN_TRANSIT))).updated_at > before.updated_at


def test_an_unknown_number_changes_nothing_but_the_next_question(own: Caller) -> None:
    before = follow(own)
    after = told(answer())
    assert (after.updated_at, after.last_status, after.events) == (before.updated_at, before.last_status, [])
    assert number_of("P1").checked_at == NOW


def test_the_same_answer_again_writes_no_parcel_and_counts_nothing(own: Caller) -> None:
    follow(own)
    same = answer(event(2, S.IN_TRANSIT), event(1, None, "ZZ", is_listed=False))
    first = told(same)
    changes = metrics.STATUS_CHANGES.labels("IN_TRANSIT")._value.get()
    with CaptureQueriesContext(connection) as captured:
        record("P1", [same], now=NOW + timedelta(hours=2))
    reads = ("SELECT", "BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
    written = [query["sql"] for query in captured if not query["sql"].startswith(reads)]
    assert len(written) == 1
    assert '"events"' not in written[0]
    assert Parcel.objects.get(id="P1").updated_at == first.updated_at
    assert UnlistedEventCode.objects.get().count == 1
    assert metrics.STATUS_CHANGES.labels("IN_TRANSIT")._value.get() == changes


def test_an_event_of_the_past_joins_without_a_change_of_status(own: Caller) -> None:
    follow(own)
    told(answer(event(1, S.OUT_FOR_DELIVERY, "TA")))
    counted = metrics.STATUS_CHANGES.labels("OUT_FOR_DELIVERY")._value.get()
    parcel = told(answer(event(2, S.IN_TRANSIT), event(1, S.OUT_FOR_DELIVERY, "TA")))
    assert [each["carrierStatusCode"] for each in parcel.events] == ["TA", "SC"]
    assert parcel.last_status == "OUT_FOR_DELIVERY"
    assert metrics.STATUS_CHANGES.labels("OUT_FOR_DELIVERY")._value.get() == counted


@pytest.mark.parametrize("codes", [("TA", "P"), ("P", "TA"), ("D", "R"), ("SM", "SC"), ("SC", "SM")])
def test_events_of_one_time_keep_the_carriers_order(codes: tuple[str, str], own: Caller) -> None:
    follow(own)
    first, last = (event(1, CODES[code], code) for code in codes)
    # whichever answer comes last, and though one repeats an event
    for events in ([last], [first, first], [first, last], [first], [first, last]):
        parcel = told(answer(*events))
    assert [each["carrierStatusCode"] for each in parcel.events] == [*reversed(codes)]
    assert parcel.carrier_last_status["code"] == codes[1]
    assert parcel.last_status == (CODES[codes[1]] or CODES[codes[0]])


def test_unlisted_codes_are_counted_once_an_event_and_listed_with_their_text(own: Caller) -> None:
    follow(own)
    told(answer(event(3, None, "ZZ", is_listed=False, text="Quoi"), event(2, None, "YY", is_listed=False)))
    later = NOW + timedelta(hours=4)
    told(answer(event(3, None, "ZZ", is_listed=False), event(1, None, "ZZ", is_listed=False)), now=later)
    found = {row.code: row for row in UnlistedEventCode.objects.all()}
    assert {code: row.count for code, row in found.items()} == {"ZZ": 2, "YY": 1}
    assert (found["ZZ"].text, found["ZZ"].first_seen_at, found["ZZ"].last_seen_at) == ("Quoi", NOW, later)
    assert own.look_up("N1").json()["lastStatus"] == "FULFILLED"


def test_an_unlisted_code_whose_text_was_erased_is_listed_with_the_next_one(own: Caller) -> None:
    follow(own)
    told(answer(event(3, None, "ZZ", is_listed=False, text="To Jane")))
    UnlistedEventCode.objects.update(text="")
    told(answer(event(3, None, "ZZ", is_listed=False, text="To Jane")))
    assert UnlistedEventCode.objects.get().text == ""
    told(answer(event(2, None, "ZZ", is_listed=False, text="Quoi")))
    told(answer(event(1, None, "ZZ", is_listed=False, text="Comment")))
    assert (UnlistedEventCode.objects.get().text, UnlistedEventCode.objects.get().count) == ("Quoi", 3)


def test_events_long_before_the_parcel_are_another_ones(own: Caller) -> None:
    follow(own)
    parcel = told(answer(event(24 * 395, S.DELIVERED, "D"), event(72, S.FULFILLED, "DC")))
    assert [each["carrierStatusCode"] for each in parcel.events] == ["DC"]


def test_a_late_answer_takes_nothing_away(own: Caller) -> None:
    follow(own)
    window = {"expected_from": ago(-1), "expected_until": ago(-2)}
    told(answer(event(2, S.IN_TRANSIT), event(1, S.OUT_FOR_DELIVERY, "TA"), **window))
    late = answer(event(2, S.IN_TRANSIT), expected_from=ago(-50), expected_until=ago(-51))
    parcel = told(late, now=NOW - timedelta(minutes=5))
    assert (parcel.last_status, len(parcel.events)) == ("OUT_FOR_DELIVERY", 2)
    assert parcel.estimated_delivery_date_window["exactDeliveryDay"] == ms(ago(-1))


def test_erased_texts_stay_erased(own: Caller) -> None:
    follow(own)
    Parcel.objects.update(are_texts_erased=True)
    parcel = told(answer(event(1, S.IN_TRANSIT, text="Handed to a person")))
    assert parcel.events[0]["label"] == parcel.carrier_last_status["description"] == ""
    assert number_of("P1").events[0]["place"] == ""


def test_times_are_milliseconds_of_utc(own: Caller) -> None:
    follow(own)
    at = datetime(NOW.year, NOW.month, NOW.day, 1, 2, 3, 456_000, tzinfo=UTC)
    told(answer(TrackingEvent("N1", "SC", at, "", "", S.IN_TRANSIT)))
    assert own.look_up("N1").json()["events"][0]["createdAt"] == ms(at)
