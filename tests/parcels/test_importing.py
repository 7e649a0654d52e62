"""The import: every line is stored unchanged or reported, inserts and updates are all or nothing."""

import sqlite3
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from django.db import OperationalError, connection, transaction
from pytest_django.fixtures import Settings

from carriers.tracking import Status
from parcels.importing.reading import BATCH_SIZE
from parcels.models import Parcel, TrackingNumber
from parcels.tracking.events import CarrierEvent
from tests.parcels.lines import line, many, refused, skipped, snapshot
from tests.support.api import Caller
from tests.support.factories import PUBLIC_FIELDS, Json, ParcelLineFactory, ShopFactory, import_lines, import_parcel
from tests.support.paths import PARCELS
from tests.support.sql import execute, statements

DATA = Path(__file__).parent.parent / "data"

# The fault that is reported for each of the sample's bad lines.
FAULTS = [
    *("id", "createdAt", "createdAt", "lastStatus", "trackingNumbers", "trackingNumbers[0]", "trackingId"),
    *("destination", "destination.firstName", "events[0].createdAt", "lineItems[0].quantity", "orderNumber"),
    *("updatedAt", "createdAt", "carrierCode", "customerEmail", "trackingId", "not valid JSON"),
    *("must be an object", "must be an object", "must be an object, not null", "orderId", "orderId"),
]


def lines_of(name: str) -> list[bytes]:
    return (DATA / name).read_bytes().splitlines()


# --- The samples ---


@pytest.mark.parametrize(("name", "count"), [("parcels.ndjson", 400), ("other_shop.ndjson", 80)])
def test_a_sample_is_imported_completely_and_answered_unchanged(
    name: str, count: int, own: Caller, settings: Settings
) -> None:
    settings.RATE_LIMIT = (10_000, 60)
    lines = lines_of(name)
    assert import_lines(own.shop, lines) == len(lines) == count == Parcel.objects.count()
    # Of several parcels with a number, the newest is answered.
    newest: dict[str, Json] = {}
    for parcel in sorted(map(orjson.loads, lines), key=lambda parcel: (parcel["createdAt"], parcel["id"])):
        newest |= dict.fromkeys([parcel["trackingId"], *parcel["trackingNumbers"]], parcel)
    for number, parcel in newest.items():
        answer = own.get(PARCELS + quote(number, safe="")).json()
        events = sorted(parcel["events"], key=lambda event: -event["createdAt"])
        public = {field: parcel[field] for field in PUBLIC_FIELDS}
        assert answer == public | {"shopId": "own", "events": events}


def test_importing_again_changes_nothing(own: Caller) -> None:
    lines = lines_of("parcels.ndjson")
    import_lines(own.shop, lines)
    numbers = sorted(TrackingNumber.objects.values_list("id", "number", "parcel"))
    assert import_lines(own.shop, lines) == 400
    assert Parcel.objects.count() == 400
    assert sorted(TrackingNumber.objects.values_list("id", "number", "parcel")) == numbers  # the same rows


def test_none_of_the_bad_lines_is_imported_and_each_is_named(db: None) -> None:
    shop, lines = ShopFactory(), lines_of("bad_lines.ndjson")
    assert len(lines) == len(FAULTS) == 23
    report = refused(shop, *lines)
    assert [number for number, _ in report] == list(range(1, 24))
    for (number, reason), fault in zip(report, FAULTS, strict=True):
        assert fault in reason, number
        assert "\n" not in reason
    assert skipped(shop, *lines) == (0, report)
    assert Parcel.objects.count() == 0


def test_a_reason_does_not_repeat_a_customers_data(db: None) -> None:
    bad = line(customerEmail=["a@example.com"], orderNumber=4711, destination__firstName=None, destination__city=1)
    [(_, reason)] = refused(ShopFactory(), bad)
    for fault in ("customerEmail", "orderNumber", "destination.firstName", "destination.city"):
        assert fault in reason
    for text in ("a@example.com", "4711"):
        assert text not in reason


# --- Insert and update ---


def test_an_update_replaces_everything_including_the_numbers(own: Caller) -> None:
    import_parcel(
        own.shop,
        id="P1",
        trackingId="OLD",
        trackingNumbers=["OLD", "BOTH"],
        orderNumber="#old",
        createdAt=946_684_800_005,
        deliveryDate=946_684_800_005,
        customerEmail="old@example.com",
    )
    updated = import_parcel(
        own.shop,
        id="P1",
        trackingId="NEW",
        trackingNumbers=["NEW", "BOTH"],
        orderNumber="#new",
        createdAt=946_684_800_006,
        deliveryDate=None,
        events=[],
    )
    assert own.look_up("OLD").status_code == 404
    assert own.look_up("NEW").json() == own.look_up("BOTH").json() == updated
    assert own.search(orderName="#old").json() == own.search(email="old@example.com").json() == []
    assert own.search(orderName="#new").json() == [updated]
    assert Parcel.objects.count() == 1


@pytest.fixture
def sqlites_own_limit(db: None) -> Iterator[None]:
    """Let SQLite take as many values in a statement as by its own default, 32,766; a Linux may have raised it."""
    if connection.vendor == "postgresql":
        yield
        return
    connection.ensure_connection()
    before = connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
    yield
    connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, before)


def test_a_batch_may_have_more_numbers_than_a_statement_takes_values(own: Caller, sqlites_own_limit: None) -> None:
    count = 140 if connection.vendor == "postgresql" else 70  # of 500 parcels; PostgreSQL takes 65,535
    sample = ParcelLineFactory()
    lines = [
        orjson.dumps(sample | {"id": f"P{n}", "trackingId": f"T{n}", "trackingNumbers": numbers})
        for n, numbers in enumerate([f"N{n}-{m}" for m in range(count)] for n in range(500))
    ]
    assert import_lines(own.shop, lines) == 500
    execute("ANALYZE")  # as the database does by itself, but not within a test's transaction
    assert import_lines(own.shop, lines) == 500
    assert own.look_up(f"N499-{count - 1}").json()["id"] == "P499"


def test_an_update_moves_a_parcel_in_the_order_of_its_number(own: Caller) -> None:
    import_parcel(own.shop, id="P1", trackingId="N1", createdAt=946_684_800_001)
    second = import_parcel(own.shop, id="P2", trackingId="N1", createdAt=946_684_800_002)
    assert own.look_up("N1").json() == second
    first = import_parcel(own.shop, id="P1", trackingId="N1", createdAt=946_684_800_003)
    assert own.look_up("N1").json() == first


@pytest.mark.parametrize("is_tracked", [False, True])
def test_only_what_differs_is_written_again(own: Caller, *, is_tracked: bool) -> None:
    same, *others = [
        line(id="P1", giftConfig=each) for each in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"b": 2, "a": 1.0})
    ]
    import_lines(own.shop, [same])
    if is_tracked:
        told = CarrierEvent("", "B10", 946_684_800_001, "", "", Status.IN_TRANSIT, is_listed=True)
        TrackingNumber.objects.update(events=[told.as_stored()])
        import_lines(own.shop, [same])
    imported_at = Parcel.objects.get().imported_at
    with statements() as sent:  # Django's own log is emptied by an import
        import_lines(own.shop, [same])
    assert not any("line_items" in sql for sql in sent if not sql.startswith("SELECT"))
    assert Parcel.objects.get().imported_at != imported_at
    for other in others:
        import_lines(own.shop, [other])
        assert orjson.dumps(Parcel.objects.get().gift_config) in other


@pytest.mark.parametrize("between", [0, 1, BATCH_SIZE - 1, BATCH_SIZE, BATCH_SIZE * 2])
def test_of_two_lines_with_one_id_the_later_wins_and_is_counted_once(between: int, own: Caller) -> None:
    lines = [
        line(id="twice", trackingId="N1", orderNumber="first"),
        *many(between),
        line(id="twice", trackingId="N2", orderNumber="second"),
    ]
    assert import_lines(own.shop, lines) == between + 1 == Parcel.objects.count()
    assert own.look_up("N1").status_code == 404
    assert own.look_up("N2").json()["orderNumber"] == "second"


def test_an_id_of_another_shop_is_a_bad_line(own: Caller, other: Caller) -> None:
    theirs = import_parcel(other.shop, id="theirs", trackingId="N1")
    bad, good = line(id="theirs", trackingId="N1"), line(id="mine", trackingId="N1")
    [(number, reason)] = refused(own.shop, good, bad)
    assert number == 2
    assert reason.startswith("id: ")
    # It does not reveal the owner.
    assert "other" not in reason.replace("another", "")
    assert skipped(own.shop, bad, good) == (1, [(1, reason)])
    assert other.look_up("N1").json() == theirs
    assert own.look_up("N1").json()["id"] == "mine"


def test_ids_differ_by_case(own: Caller, other: Caller) -> None:
    import_parcel(own.shop, id="p1", trackingId="N1")
    import_parcel(other.shop, id="P1", trackingId="N1")
    assert own.look_up("N1").json()["id"] == "p1"


# --- All or nothing ---


@pytest.mark.parametrize("place", [0, BATCH_SIZE - 1, BATCH_SIZE, BATCH_SIZE * 2])
def test_a_bad_line_anywhere_leaves_everything_unchanged(place: int, own: Caller) -> None:
    import_parcel(own.shop, id="before", trackingId="N1")
    lines = [line(id="before", trackingId="N2"), *many(BATCH_SIZE * 2)]
    lines.insert(place, b"{}")
    [(number, _)] = refused(own.shop, *lines)
    assert number == place + 1


def test_bad_lines_are_skipped_on_request(own: Caller) -> None:
    lines = [*many(BATCH_SIZE + 100)]
    for place in (0, 700, BATCH_SIZE):
        lines[place] = b"{}"
    count, report = skipped(own.shop, *lines)
    assert count == Parcel.objects.count() == BATCH_SIZE + 97
    assert [number for number, _ in report] == [1, 701, BATCH_SIZE + 1]


def test_a_database_that_fails_in_the_middle_leaves_everything_unchanged(own: Caller) -> None:
    import_parcel(own.shop, id="before", trackingId="N1")
    before = snapshot()
    selects = 0

    def fail_late(execute: Any, sql: str, *args: Any) -> Any:
        nonlocal selects
        selects += sql.startswith("SELECT")
        if selects > 9:  # some of each batch
            raise OperationalError("the server is gone")
        return execute(sql, *args)

    with pytest.raises(OperationalError), transaction.atomic(), connection.execute_wrapper(fail_late):
        import_lines(own.shop, [line(id="before", trackingId="N2"), *many(BATCH_SIZE * 2)])
    assert snapshot() == before
    assert selects > 9


# --- The size of a file ---


@pytest.mark.any_database
def test_a_larger_file_takes_no_more_memory(db: None, settings: Settings) -> None:
    settings.DEBUG = True  # the harder case: Django keeps the statements it runs
    sample = ParcelLineFactory(lineItems=[], events=[])
    peaks = []

    def lines() -> Iterator[bytes]:
        for number in range(2400):
            if number % 800 == 0:
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.reset_peak()
            yield orjson.dumps(sample | {"id": f"P{number}", "trackingId": f"N{number}"})

    tracemalloc.start()
    assert import_lines(ShopFactory(), lines()) == 2400
    peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    # The first third also loads what is loaded once; the last third takes no more than the second.
    assert peaks[3] < 1.15 * peaks[2]
