"""Imports as reports: what is followed, what an import changes of a story, and one story beside labels and carriers."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import orjson
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.personal_data.erasure import erase
from parcels.tracking.recording import record_all
from parcels.tracking.timeline import recompute
from shops.webhooks.models import WebhookEvent
from tests.support.api import Caller
from tests.support.factories import UNTOLD, ParcelLineFactory, import_lines, import_parcel
from tests.support.sql import WAITING, value
from tests.support.threads import Threads
from tests.support.tracking import number_of, record
from tests.support.waiting import WAIT_TIMEOUT_S, until

S = Status
NOW = timezone.now().replace(microsecond=0)


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def ms(hours_ago: float) -> int:
    return round(ago(hours_ago).timestamp() * 1000)


def imported(caller: Caller, status: Status | None, hours_ago: float | None, **fields: Any) -> dict[str, Any]:
    """Import the parcel P1, whose status counts from some hours ago."""
    at = None if hours_ago is None else ms(hours_ago)
    made = {"id": "P1", "trackingId": "N1", "createdAt": ms(48), "updatedAt": ms(47), "events": []}
    told = {"lastStatus": status and str(status), "lastStatusUpdatedAt": at, "carrierLastStatus": None}
    return import_parcel(caller.shop, **made | told | fields)


def hear(status: Status, hours_ago: float, code: str = "SC", parcel: str = "P1", number: str = "N1") -> None:
    event = TrackingEvent(number, code, ago(hours_ago), "Carrier's text", "PARIS", status)
    record(parcel, [TrackingAnswer(number, is_known=True, events=(event,))], now=timezone.now())


def status_of(caller: Caller, number: str = "N1") -> str | None:
    status: str | None = caller.look_up(number).json()["lastStatus"]
    return status


# --- Which parcels are followed ---


@pytest.mark.parametrize("carrier", ["alpha", "beta"])
def test_an_open_parcel_is_followed(carrier: str, own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5, carrierCode=carrier)
    row = number_of("P1")
    assert (row.shop_id, row.carrier_code, row.parcel.reported, row.events) == (own.shop.id, carrier, None, [])
    assert row.due_at is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"lastStatus": "DELIVERED"},
        {"lastStatus": "RETURNED_TO_SENDER"},
        {"carrierCode": "gamma"},
        {"createdAt": ms(24 * 91)},
    ],
)
def test_a_final_an_old_and_another_carriers_parcel_is_not(fields: dict[str, Any], own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5, **fields)
    assert not TrackingNumber.objects.filter(due_at__isnull=False).exists()


def test_a_parcel_that_the_shop_reports_delivered_is_followed_no_more(own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5)
    imported(own, S.DELIVERED, 4)
    assert number_of("P1").due_at is None
    imported(own, S.IN_TRANSIT, 3)
    assert number_of("P1").due_at is not None


def test_importing_again_leaves_the_next_question_as_it_was(own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5)
    before = TrackingNumber.objects.values().get()
    imported(own, S.IN_TRANSIT, 5)
    assert TrackingNumber.objects.values().get() == before


# --- What an import changes ---


def test_a_newer_import_tells_the_story_and_an_older_one_does_not(own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5)
    newest = imported(own, S.OUT_FOR_DELIVERY, 2, updatedAt=ms(40))
    assert own.look_up("N1").json() == newest
    older = imported(own, S.FULFILLED, 9, orderNumber="#corrected", updatedAt=ms(40))
    told = {name: newest[name] for name in ("lastStatus", "lastStatusUpdatedAt", "events")}
    assert own.look_up("N1").json() == older | told


def test_an_import_without_a_status_takes_none_away(own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5)
    imported(own, None, None)
    assert status_of(own) == "IN_TRANSIT"


def test_of_two_imports_of_one_time_the_later_wins(own: Caller) -> None:
    imported(own, S.DELIVERED, 5)
    imported(own, S.DELIVERY_FAILURE, 5)
    assert status_of(own) == "DELIVERY_FAILURE"


def test_an_older_line_of_a_file_does_not_turn_the_newer_back(own: Caller) -> None:
    facts = {"id": "P1", "trackingId": "N1", "events": []}
    first = ParcelLineFactory(**facts, lastStatus="DELIVERED", lastStatusUpdatedAt=ms(2), orderNumber="#1")
    second = ParcelLineFactory(**facts, lastStatus="IN_TRANSIT", lastStatusUpdatedAt=ms(5), orderNumber="#2")
    assert import_lines(own.shop, [orjson.dumps(first), orjson.dumps(second)]) == 1
    assert (status_of(own), own.look_up("N1").json()["orderNumber"]) == ("DELIVERED", "#2")


NEWS: list[Callable[[Caller], object]] = [
    lambda caller: imported(caller, S.IN_TRANSIT, 9),
    lambda caller: imported(caller, S.OUT_FOR_DELIVERY, 4),
    lambda caller: imported(caller, S.DELIVERY_FAILURE, 6),
    lambda _: hear(S.IN_TRANSIT, 7),
    lambda _: hear(S.OUT_FOR_DELIVERY, 5, "TA"),
    lambda _: hear(S.DELIVERY_FAILURE, 3, "P"),
]


@pytest.mark.parametrize("seed", range(8))
def test_imports_and_answers_make_one_story_in_any_order(seed: int, own: Caller) -> None:
    imported(own, S.FULFILLED, 20)
    for tell in random.Random(seed).sample(NEWS, len(NEWS)):
        tell(own)
    story = own.look_up("N1").json()
    assert (story["lastStatus"], story["lastStatusUpdatedAt"]) == ("DELIVERY_FAILURE", ms(3))
    assert [event["carrierStatusCode"] for event in story["events"]] == ["P", "TA", "SC"]


def test_a_batch_is_a_few_statements(own: Caller) -> None:
    lines = [
        orjson.dumps(ParcelLineFactory(id=f"P{n}", trackingId=f"N{n}", createdAt=ms(9), lastStatus="FULFILLED"))
        for n in range(200)
    ]
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            import_lines(own.shop, lines)
        counts.append(len([query for query in captured if query["sql"].startswith(("SELECT", "INSERT", "DELETE"))]))
    assert counts[0] <= 12
    assert counts[1] <= 12


# --- At the same time ---


@pytest.mark.real_services
def test_an_answer_does_not_wait_for_an_import(transactional_db: None, own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 9)
    with Threads(1) as pool, transaction.atomic():
        imported(own, S.IN_TRANSIT, 8)
        pool.submit(hear, S.OUT_FOR_DELIVERY, 3).result(WAIT_TIMEOUT_S)
    assert status_of(own) == "IN_TRANSIT"  # and it is asked again, when the lease ends
    hear(S.OUT_FOR_DELIVERY, 3)
    assert status_of(own) == "OUT_FOR_DELIVERY"


@pytest.mark.real_services
def test_imports_and_answers_at_the_same_time_make_one_story_each(transactional_db: None, own: Caller) -> None:
    count = 100

    def lines(status: Status, hours_ago: float) -> list[bytes]:
        told = {"lastStatus": str(status), "lastStatusUpdatedAt": ms(hours_ago), "createdAt": ms(48), "events": []}
        return [orjson.dumps(ParcelLineFactory(id=f"P{n}", trackingId=f"N{n}", **told)) for n in range(count)]

    def run_imports() -> None:
        for hours_ago in (7, 3, 5):
            import_lines(own.shop, lines(S.IN_TRANSIT, hours_ago))

    def run_answers(code: str, hours_ago: float, times: int = 3) -> None:
        for n in range(count):
            for _ in range(times):
                hear(S.OUT_FOR_DELIVERY, hours_ago, code, f"P{n}", f"N{n}")

    import_lines(own.shop, lines(S.FULFILLED, 9))
    with Threads(3) as pool:
        running = [pool.submit(run_imports), pool.submit(run_answers, "TA", 4), pool.submit(run_answers, "TB", 2)]
        for each in running:
            each.result(WAIT_TIMEOUT_S)
    for code, hours_ago in (("TA", 4.0), ("TB", 2.0)):  # those that met an import are asked about again
        run_answers(code, hours_ago, times=1)
    for parcel in Parcel.objects.all():
        assert [event["carrierStatusCode"] for event in parcel.events] == ["TB", "TA"]
        assert (parcel.last_status, parcel.last_status_updated_at) == ("OUT_FOR_DELIVERY", ms(2))
    assert Parcel.objects.count() == TrackingNumber.objects.count() == count


@pytest.mark.real_services
def test_two_imports_of_one_new_parcel_at_once_keep_the_newer_status(transactional_db: None, own: Caller) -> None:
    is_written = Event()

    def second() -> None:
        is_written.wait(WAIT_TIMEOUT_S)
        imported(own, S.IN_TRANSIT, 9)

    with Threads(1) as pool:
        with transaction.atomic():
            imported(own, S.DELIVERED, 2)
            running = pool.submit(second)
            is_written.set()
            until(lambda: value(WAITING))
        running.result(WAIT_TIMEOUT_S)
    assert status_of(own) == "DELIVERED"


def test_a_parcel_that_was_given_up_is_asked_about_again_when_the_shop_has_news_of_it(own: Caller) -> None:
    imported(own, None, None, carrierCode="alpha")
    long_ago = NOW - timedelta(days=20)
    TrackingNumber.objects.update(due_at=None, followed_since=long_ago)
    imported(own, None, None, carrierCode="alpha")
    assert number_of("P1").due_at is None
    imported(own, S.FULFILLED, 1, carrierCode="alpha")
    assert number_of("P1").due_at is not None


@pytest.mark.parametrize("days", [2, 20])
def test_a_number_that_its_carrier_does_not_know_is_a_new_one_at_another_carrier(days: int, own: Caller) -> None:
    """Asked about hourly for a day, and given up after 15 days, whatever the carrier before was asked."""
    imported(own, None, None, carrierCode="alpha")
    TrackingNumber.objects.update(followed_since=NOW - timedelta(days=days))
    record("P1", [TrackingAnswer("N1", is_known=False)], now=timezone.now())
    assert (number_of("P1").due_at is None) is (days > 15)
    imported(own, None, None, carrierCode="beta")
    row = number_of("P1")
    assert row.carrier_code == "beta"
    assert row.due_at is not None
    assert row.due_at < NOW + timedelta(hours=2)


def test_what_the_carrier_before_has_reported_stays_at_another_carrier(own: Caller) -> None:
    imported(own, None, None, carrierCode="alpha")
    hear(S.IN_TRANSIT, 1)
    imported(own, None, None, carrierCode="beta")
    assert status_of(own) == S.IN_TRANSIT


def test_what_the_carrier_before_answers_late_is_nothing_of_the_parcel(own: Caller) -> None:
    imported(own, None, None, carrierCode="alpha")
    asked = number_of("P1").pk
    imported(own, None, None, carrierCode="beta")
    event = TrackingEvent("N1", "D", ago(1), "Carrier's text", "PARIS", S.DELIVERED)
    answer = TrackingAnswer("N1", is_known=True, events=(event,))
    record_all({asked: answer}, now=timezone.now())
    assert status_of(own) is None


def test_after_an_erasure_an_answer_without_news_writes_nothing(own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5, carrierCode="alpha")
    hear(S.OUT_FOR_DELIVERY, 1)
    erase(["P1"])
    before = Parcel.objects.values().get()
    with CaptureQueriesContext(connection) as captured:
        hear(S.OUT_FOR_DELIVERY, 1)
    assert Parcel.objects.values().get() == before
    assert not [query for query in captured if '"events"' in query["sql"] and query["sql"].startswith("UPDATE")]


def test_a_parcel_that_gives_a_number_up_tells_its_new_status(own: Caller) -> None:
    """The number that was behind leaves the parcel, so that it is delivered."""
    imported(own, None, None, carrierCode="alpha", trackingNumbers=["N1"])
    TrackingNumber.objects.update(state="bought", label="L1")
    row = number_of("P1")
    row.pk, row.number, row.is_added = None, "N2", True
    row.save()
    Parcel.objects.update(tracking_numbers=["N1", "N2"])
    hear(S.IN_TRANSIT, 3, number="N2")
    hear(S.DELIVERED, 2, code="D", number="N1")
    assert status_of(own) == "IN_TRANSIT"
    updated_at = own.look_up("N1").json()["updatedAt"]
    WebhookEvent.objects.all().delete()
    imported(own, None, None, id="P2", trackingId="N2", trackingNumbers=["N2"], carrierCode="alpha")
    assert status_of(own) == "DELIVERED"
    assert own.look_up("N1").json()["updatedAt"] > updated_at
    changes = {each.data["id"]: each.data["status"] for each in WebhookEvent.objects.all()}
    assert changes == {"P1": "DELIVERED", "P2": "IN_TRANSIT"}


def test_a_number_that_leaves_a_delivered_parcel_is_asked_about_on_its_new_one(own: Caller) -> None:
    imported(own, S.DELIVERED, 5, trackingNumbers=["N1", "N2"])
    TrackingNumber.objects.update(state=NumberState.BOUGHT, label="a label")
    imported(own, None, None, id="P2", trackingId="N2", trackingNumbers=["N2"], createdAt=ms(50))
    imported(own, S.DELIVERED, 5, trackingNumbers=["N1"])
    (row,) = TrackingNumber.objects.filter(number="N2")
    assert row.parcel_id == "P2"
    assert row.due_at is not None


@pytest.mark.parametrize("ids", [("P1", "P2"), ("P2", "P1")])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_number_that_an_import_lays_on_another_parcel_has_there_what_the_carrier_told(
    is_new: bool, ids: tuple[str, str], own: Caller
) -> None:
    one, other = ids
    both = {"id": one, "trackingId": "N1", "trackingNumbers": ["N1", "N2"], "carrierCode": "alpha"} | UNTOLD
    import_parcel(own.shop, **both)
    if not is_new:
        import_parcel(own.shop, **both | {"id": other, "trackingId": "N3", "trackingNumbers": ["N3"]})
    hear(S.DELIVERED, 2, code="D", parcel=one, number="N2")
    lines = [both | {"trackingNumbers": ["N1"]}, both | {"id": other, "trackingId": "N2", "trackingNumbers": ["N2"]}]
    import_lines(own.shop, [orjson.dumps(ParcelLineFactory(**line)) for line in lines])
    found = own.look_up("N2").json()
    assert (found["id"], found["lastStatus"]) == (other, "DELIVERED")
    assert [event["carrierStatusCode"] for event in found["events"]] == ["D"]
    assert own.look_up("N1").json()["events"] == []
    changes = [(each.data["id"], each.data["status"]) for each in WebhookEvent.objects.order_by("id")]
    assert (other, "DELIVERED") in changes


def test_a_number_of_another_carrier_has_nothing_of_what_was_told_before(own: Caller) -> None:
    imported(own, None, None, trackingNumbers=["N1", "N2"], carrierCode="alpha")
    hear(S.DELIVERED, 2, code="D", number="N2")
    one = ParcelLineFactory(id="P1", trackingId="N1", trackingNumbers=["N1"], carrierCode="alpha", **UNTOLD)
    other = ParcelLineFactory(id="P2", trackingId="N2", trackingNumbers=["N2"], carrierCode="beta", **UNTOLD)
    import_lines(own.shop, [orjson.dumps(one), orjson.dumps(other)])
    assert own.look_up("N2").json()["events"] == []


def test_a_number_whose_texts_are_erased_leaves_for_a_parcel_that_keeps_none(own: Caller) -> None:
    imported(own, None, None, trackingNumbers=["N1", "N2"])
    TrackingNumber.objects.update(state=NumberState.BOUGHT, label="a label")
    erase(["P1"])
    imported(own, None, None, id="P2", trackingId="N2", trackingNumbers=["N2"], createdAt=ms(50))
    imported(own, None, None, trackingNumbers=["N1"])
    hear(S.IN_TRANSIT, 1, parcel="P2", number="N2")
    assert number_of("P2").events[0]["text"] == ""


def test_a_labels_number_that_a_parcel_of_an_erased_customer_names_too_has_its_status_there_and_no_texts(
    own: Caller,
) -> None:
    imported(own, None, None, carrierCode="alpha")
    TrackingNumber.objects.update(state=NumberState.CANCELLED, label="a label")
    hear(S.IN_TRANSIT, 3)
    line = {"id": "P2", "trackingId": "N2", "carrierCode": "alpha", "createdAt": ms(49)}
    imported(own, None, None, **line, trackingNumbers=["N2"])
    erase(["P2"])
    imported(own, None, None, **line, trackingNumbers=["N2", "N1"])
    (row,) = TrackingNumber.objects.filter(parcel="P2", number="N1")
    assert [(event["text"], event["place"]) for event in row.events] == [("", "")]
    assert status_of(own, "N2") == "IN_TRANSIT"


@pytest.mark.parametrize(("state", "age_h"), [(NumberState.BOUGHT, 48), (NumberState.CANCELLED, 49)])
def test_a_labels_number_that_a_further_parcel_names_has_there_what_its_own_carrier_told(
    state: NumberState, age_h: int, own: Caller
) -> None:
    imported(own, None, None, carrierCode="beta")
    TrackingNumber.objects.update(state=state, label="a label")
    hear(S.IN_TRANSIT, 3)
    line = {"trackingId": "N2", "trackingNumbers": ["N2", "N1"], "carrierCode": "alpha", "createdAt": ms(age_h)}
    imported(own, None, None, id="P2", **line)
    assert status_of(own, "N2") == "IN_TRANSIT"
    asked = {row.number: row.carrier_code for row in TrackingNumber.objects.filter(parcel="P2")}
    assert asked == {"N1": "beta", "N2": "alpha"}


def test_an_import_that_takes_the_carriers_status_away_moves_the_time_of_a_parcel_of_a_clock_ahead(own: Caller) -> None:
    imported(own, None, None, updatedAt=ms(-1))
    hear(S.IN_TRANSIT, 3)
    hear(S.DELIVERED, 2, code="D")
    before = own.look_up("N1").json()["updatedAt"]
    imported(own, None, None, updatedAt=ms(-1) + 1, trackingId="N2", trackingNumbers=["N2"])
    assert own.look_up("N2").json()["updatedAt"] > before


def test_an_import_with_another_status_moves_a_time_that_its_line_left(own: Caller) -> None:
    imported(own, S.IN_TRANSIT, 5)
    for status, hours_ago, updated in ((S.OUT_FOR_DELIVERY, 4, 47), (S.DELIVERED, 3, 50)):
        before = Parcel.objects.get().updated_at
        imported(own, status, hours_ago, updatedAt=ms(updated))
        assert Parcel.objects.get().updated_at == before + 1
    corrected = imported(own, S.DELIVERED, 3, updatedAt=ms(50), orderNumber="#corrected")
    assert own.look_up("N1").json() == corrected


def test_a_labels_number_that_two_parcels_name_is_on_the_newer_one_and_holds_that_back(own: Caller) -> None:
    imported(own, None, None, trackingNumbers=["N1", "N2"], carrierCode="alpha")
    TrackingNumber.objects.update(state=NumberState.BOUGHT, label="a label")
    imported(own, None, None, id="P2", trackingId="N3", trackingNumbers=["N3", "N2"], createdAt=ms(40))
    rows = {row.parcel_id: row for row in TrackingNumber.objects.filter(number="N2")}
    assert (rows["P1"].state, rows["P2"].state) == (NumberState.REPORTED, NumberState.BOUGHT)
    assert None not in (rows["P1"].due_at, rows["P2"].due_at)  # the carrier is asked for both
    hear(S.DELIVERED, 2, code="D", number="N1")
    hear(S.DELIVERED, 2, code="D", parcel="P2", number="N3")
    assert (status_of(own, "N1"), status_of(own, "N2")) == ("DELIVERED", "FULFILLED")


def test_each_number_of_a_cancelled_label_holds_nothing_back_on_the_parcels_that_imports_name_it_for(
    own: Caller,
) -> None:
    imported(own, None, None, id="label", trackingNumbers=["N1", "N2"], carrierCode="alpha")
    TrackingNumber.objects.update(state=NumberState.CANCELLED, label="label")
    Parcel.objects.update(imported_at=None, is_withdrawn=True)
    for number in ("N1", "N2"):
        other = f"{number} later"
        imported(own, None, None, id=other, trackingId=other, trackingNumbers=[other, number], carrierCode="alpha")
        assert own.look_up(number).json()["id"] == other
        hear(S.DELIVERED, 2, code="D", parcel=other, number=other)
        hear(S.FULFILLED, 3, code="DC", parcel=other, number=number)
        assert status_of(own, number) == "DELIVERED"
    assert not Parcel.objects.filter(id="label").exists()


def test_a_cancelled_number_that_an_import_moves_to_another_parcel_holds_nothing_back_there(own: Caller) -> None:
    imported(own, None, None, trackingNumbers=["N1", "N2"], carrierCode="alpha")
    TrackingNumber.objects.filter(number="N2").update(state=NumberState.CANCELLED, label="a label")
    line = {"carrierCode": "alpha", "createdAt": ms(48)} | UNTOLD
    one = ParcelLineFactory(id="P1", trackingId="N1", trackingNumbers=["N1"], **line)
    other = ParcelLineFactory(id="P2", trackingId="N3", trackingNumbers=["N3", "N2"], **line)
    import_lines(own.shop, [orjson.dumps(one), orjson.dumps(other)])
    hear(S.DELIVERED, 2, code="D", parcel="P2", number="N3")
    hear(S.FULFILLED, 3, code="DC", parcel="P2", number="N2")
    assert status_of(own, "N2") == "DELIVERED"


def test_an_import_moves_the_time_of_a_parcel_that_a_label_took_ahead_of_the_shops_own(own: Caller) -> None:
    """A number that came with a label and left again moved `updatedAt` beyond what the shop gives next."""
    line = ParcelLineFactory(id="P1", trackingId="N1", trackingNumbers=["N1"], updatedAt=ms(47), carrierCode="alpha")
    import_lines(own.shop, [orjson.dumps(line)])
    row = number_of("P1")
    row.pk, row.number, row.state, row.label, row.is_added = None, "N2", NumberState.BOUGHT, "a label", True
    row.save()
    recompute(["P1"], timezone.now())
    TrackingNumber.objects.filter(number="N2").delete()
    recompute(["P1"], timezone.now())
    before = own.look_up("N1").json()
    assert (before["trackingNumbers"], before["updatedAt"] > ms(47)) == (["N1"], True)
    import_lines(own.shop, [orjson.dumps(line)])
    assert own.look_up("N1").json() == before
    for change in ({"updatedAt": ms(46), "orderNumber": "#2"}, {"updatedAt": ms(45), "trackingNumbers": ["N1", "N3"]}):
        before = own.look_up("N1").json()
        import_lines(own.shop, [orjson.dumps({**line, **change})])
        assert own.look_up("N1").json()["updatedAt"] > before["updatedAt"]


def test_a_labels_number_that_leaves_a_parcel_of_erased_texts_has_none_on_either(own: Caller) -> None:
    imported(own, None, None, carrierCode="alpha")
    TrackingNumber.objects.update(state=NumberState.BOUGHT, label="a label")
    imported(own, None, None, id="P2", trackingId="N1", createdAt=ms(50), carrierCode="alpha")
    hear(S.IN_TRANSIT, 3, parcel="P2")
    erase(["P1"])
    imported(own, None, None, id="P2", trackingId="N1", createdAt=ms(40), carrierCode="alpha")
    kept = {row.parcel_id: (row.state, [event["text"] for event in row.events]) for row in TrackingNumber.objects.all()}
    assert kept == {"P1": (NumberState.REPORTED, []), "P2": (NumberState.BOUGHT, [""])}


def test_an_erasure_moves_the_time_and_so_does_the_import_that_brings_it_all_back(own: Caller) -> None:
    line = orjson.dumps(ParcelLineFactory(id="P1", trackingId="N1", updatedAt=ms(-1)))
    import_lines(own.shop, [line])
    before = own.look_up("N1").json()
    steps: list[Callable[[], object]] = [lambda: erase(["P1"]), lambda: import_lines(own.shop, [line])]
    for step in steps:
        step()
        now = own.look_up("N1").json()
        assert now["destination"] != before["destination"]
        assert now["updatedAt"] > before["updatedAt"]
        step()
        assert own.look_up("N1").json() == now
        before = now
