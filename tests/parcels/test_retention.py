"""Retention of parcels: old ones without recent updates are removed, in batches that wait for no lock."""

from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from parcels.models import Parcel, TrackingNumber, UnlistedEventCode
from parcels.personal_data.retention import remove_parcels
from tests.shops.commands import call
from tests.support.api import Caller
from tests.support.factories import import_parcel, ms_ago
from tests.support.threads import Threads, in_threads
from tests.support.waiting import WAIT_TIMEOUT_S


def parcel_of(days: float, caller: Caller, **fields: Any) -> dict[str, Any]:
    """Import a parcel created and last updated this many days ago."""
    return import_parcel(caller.shop, **{"createdAt": ms_ago(days), "updatedAt": ms_ago(days)} | fields)


def run(*arguments: str) -> str:
    out, err = call("apply_retention", *arguments)
    assert err == ""
    return out.splitlines()[0]


@pytest.mark.parametrize("batch", [1, 2, 500])
def test_old_parcels_go_with_their_numbers_and_younger_ones_stay(
    batch: int, own: Caller, other: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KEEP_PARCELS_DAYS = 30
    same_moment = ms_ago(50)
    old = [parcel_of(31, own, trackingNumbers=["A", "B"]), parcel_of(400, other)]
    old += [parcel_of(50, own, createdAt=same_moment) for _ in range(4)]
    young = [parcel_of(29, own), parcel_of(0, other), parcel_of(31, own, updatedAt=ms_ago(29))]
    before = list(Parcel.objects.values()), list(TrackingNumber.objects.values())
    assert run("--dry-run") == "6 parcels"
    assert (list(Parcel.objects.values()), list(TrackingNumber.objects.values())) == before
    monkeypatch.setattr("config.retention.BATCH_SIZE", batch)
    assert run() == "6 parcels"
    assert {parcel.id for parcel in Parcel.objects.all()} == {parcel["id"] for parcel in young}
    assert TrackingNumber.objects.count() == 3
    for caller in (own, other):
        assert {caller.look_up(parcel["trackingId"]).status_code for parcel in old} == {404}
    assert own.look_up(young[0]["trackingId"]).json() == young[0]
    assert run() == "0 parcels"


def test_a_batch_is_one_short_transaction_of_a_few_statements(own: Caller, transactional_db: None) -> None:
    for _ in range(25):
        parcel_of(31, own)
    with CaptureQueriesContext(connection) as captured:
        remove_parcels(before=timezone.now() - timedelta(days=30), batch_size=10, is_dry_run=False)
    statements = [query["sql"] for query in captured if query["sql"].startswith(("SELECT", "DELETE"))]
    # Three batches with two SELECTs (one is Django's own) and three DELETEs each (the numbers, the rows that follow the
    # parcels, the parcels), and the SELECT that finds no more.
    # The moment is noted with two; the end of the pass and the unlisted codes take one each.
    assert len(statements) == 2 + 3 * 4 + 2
    assert not [statement for statement in statements if '"destination"' in statement]


@pytest.mark.real_services
def test_a_parcel_locked_by_an_import_is_skipped_and_removed_by_the_next_run(
    own: Caller, transactional_db: None
) -> None:
    held, free = parcel_of(31, own), parcel_of(32, own)
    is_held, is_over = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            list(Parcel.objects.select_for_update().filter(id=held["id"]))
            is_held.set()
            is_over.wait(WAIT_TIMEOUT_S)

    before = datetime.fromtimestamp(ms_ago(30) / 1000, UTC)
    with Threads(1) as pool:
        holding = pool.submit(hold)
        assert is_held.wait(WAIT_TIMEOUT_S)
        assert remove_parcels(before=before, batch_size=1, is_dry_run=False) == 1
        assert own.look_up(free["trackingId"]).status_code == 404
        assert own.look_up(held["trackingId"]).status_code == 200
        is_over.set()
        holding.result(WAIT_TIMEOUT_S)
    assert remove_parcels(before=before, batch_size=1, is_dry_run=False) == 1


def test_two_runs_at_once_remove_everything_once(own: Caller, transactional_db: None) -> None:
    for _ in range(60):
        parcel_of(31, own)
    before = timezone.now() - timedelta(days=30)
    counts = in_threads(2, lambda _: remove_parcels(before=before, batch_size=7, is_dry_run=False))
    assert sum(counts) == 60
    assert (Parcel.objects.count(), TrackingNumber.objects.count()) == (0, 0)


def test_a_code_that_no_carrier_reports_any_more_goes_with_its_text(db: None) -> None:
    now, text = timezone.now(), "Remis a Mme Jane Quibble"
    for code, days in (("OLD", 11), ("NEW", 9)):
        at = now - timedelta(days=days)
        facts = {"carrier_code": "beta", "code": code, "text": text, "first_seen_at": at, "last_seen_at": at}
        UnlistedEventCode.objects.create(**facts)
    remove_parcels(before=now - timedelta(days=10), batch_size=5, is_dry_run=False)
    assert list(UnlistedEventCode.objects.values_list("code", flat=True)) == ["NEW"]
