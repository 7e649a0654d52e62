"""A world of the version before becomes rows of numbers: each keeps its state, its events and its next question."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from parcels.models import Parcel, TrackingNumber

BEFORE = [("parcels", "0005_keys_in_any_case"), ("labels", "0009_listed"), ("config", "0002_accounting")]
AT = datetime.now(UTC).replace(microsecond=0) - timedelta(days=5)
AT_MS = round(AT.timestamp() * 1000)


@pytest.fixture
def before(transactional_db: None) -> Iterator[Any]:
    """The models of the version before, on its tables."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    try:
        apps = executor.loader.project_state(BEFORE).apps
        for model in (apps.get_model("parcels", "Parcel"), apps.get_model("labels", "ShippingLabel")):
            model.words = lambda row: iter(())
        yield apps
    finally:
        MigrationExecutor(connection).migrate(latest)


def event(number: str, at: int) -> dict[str, Any]:
    told = {"code": "SC", "text": "Sorted", "place": "PARIS", "status": "IN_TRANSIT"}
    return {"number": number, "at": at, **told, "is_listed": True, "kept_until": None}


def make(apps: Any, parcel_id: str, numbers: list[str], **tracking: Any) -> None:
    parcels, rows, followed = (apps.get_model("parcels", name) for name in ("Parcel", "ParcelNumber", "ParcelTracking"))
    texts = dict.fromkeys(("order_id", "order_number", "carrier_code", "search_words"), "")
    lists: dict[str, Any] = {"destination": {}, "line_items": [], "events": []}
    times = {"created_at": AT_MS, "updated_at": AT_MS}
    parcel = parcels.objects.create(
        id=parcel_id, shop_id="own", tracking_id=numbers[0], tracking_numbers=numbers, **texts, **lists, **times
    )
    for number in numbers:
        rows.objects.create(shop_id="own", number=number, parcel=parcel, created_at=AT_MS)
    if tracking:
        facts = {"shop_id": "own", "carrier_code": "alpha", "followed_since": AT, "next_check_at": AT}
        followed.objects.create(parcel=parcel, **facts | tracking)


@pytest.mark.real_services  # to the version before and back are some seconds
def test_todays_data_become_rows_of_numbers(before: Any) -> None:
    before.get_model("shops", "Shop").objects.create(id="own", name="Own")
    label = before.get_model("labels", "ShippingLabel").objects.create
    facts: dict[str, Any] = {"shop_id": "own", "carrier_code": "alpha", "leased_until": AT}
    facts |= {"weights_kg": ["1"], "sender": {}, "recipient": {}}
    label(id="L1", state="label_generated", tracking_numbers=["N1", "N2"], **facts)
    label(id="L2", state="cancelled", tracking_numbers=["N3"], **facts)
    told = {"reported": {"story": {"events": []}, "importedAt": 1}, "are_texts_erased": True}
    events = [event("N1", AT_MS), event("N2", AT_MS + 1), event("GONE", AT_MS + 2)]
    make(before, "P1", ["N1", "N2"], carrier_events=events, label_numbers=["N1", "N2"], added_numbers=["N2"], **told)
    make(before, "L2", ["N3"], label_numbers=[])
    make(before, "P3", ["N4"])
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    rows = TrackingNumber.objects.order_by("number")
    assert list(rows.values_list("number", "parcel", "state", "label", "is_added", "carrier_code")) == [
        ("N1", "P1", "bought", "L1", False, "alpha"),
        ("N2", "P1", "bought", "L1", True, "alpha"),
        ("N3", "L2", "cancelled", "L2", False, "alpha"),
        ("N4", "P3", "reported", None, False, ""),
    ]
    assert [row.due_at for row in rows] == [AT, AT, AT, None]
    assert [[each["at"] for each in row.events] for row in rows] == [[AT_MS], [AT_MS + 1], [], []]
    assert "number" not in rows[0].events[0]
    parcel = Parcel.objects.get(id="P1")
    assert (parcel.reported, parcel.are_texts_erased) == (told["reported"], True)
