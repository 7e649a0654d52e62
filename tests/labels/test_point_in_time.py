"""A recovery to a point in time, from a backup, gets back what was bought after that point.

As in docs/runbook/fail.md, with deploy/backup.sh and PostgreSQL's own programs.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import call_command
from django.db import connection

from labels.lifecycle import cancelling
from labels.models import LabelState, ShippingLabel
from tests.labels.backups import BACKUP, backed_up, check, hand_over, programs, recovered, restore
from tests.labels.conftest import Sandbox
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, client, forget
from tests.support.factories import import_parcel
from tests.support.paths import SHIPMENTS
from tests.support.services import data_folder
from tests.support.sql import value
from tests.support.waiting import until

pytestmark = pytest.mark.real_services


@pytest.fixture
def place() -> Iterator[Path]:
    with data_folder() as made:
        yield made


@contextmanager
def backed_up_to(folder: Path) -> Iterator[None]:
    """Back the server up while the block runs, the last of its WAL included."""
    with backed_up(os.environ["DATABASE_URL"], folder):
        yield
        ask("SELECT pg_logical_emit_message(false, 'test', 'so that there is WAL to switch from')")
    until(lambda: ask("SELECT active FROM pg_replication_slots") == "False")
    ask("SELECT pg_drop_replication_slot('backup')")


def ask(query: str) -> str:
    return str(value(query))


@contextmanager
def recovered_to(moment: str, backup: Path, data: Path) -> Iterator[None]:
    """Restore a backup up to a moment, start a server of its own on it, and let the service use that one."""
    owner = Path(ask("SHOW data_directory")).stat()
    restore(backup, data, moment)
    for folder in (data, backup):
        hand_over(folder, owner)
    original = connection.settings_dict["HOST"]
    with recovered(data) as url:
        connection.close()
        connection.settings_dict["HOST"] = parse_qs(urlsplit(url).query)["host"][0]
        forget()
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["HOST"] = original


def test_what_was_bought_after_the_point_is_put_back_by_one_command(
    buyer: Caller, sandbox: Sandbox, folder: Path, place: Path
) -> None:
    parcel = import_parcel(buyer.shop)
    before = post(buyer, order()).json()["id"]
    with backed_up_to(place / "backup"):
        after = {carrier: post(buyer, order(code), key=f"key-{carrier}").json() for carrier, code in PRODUCT.items()}
        moment = ask("SELECT clock_timestamp()")
        lost = post(buyer, order(), key="key-lost").json()["id"]
        cancelled = ShippingLabel.objects.get(id=post(buyer, order(PRODUCT["beta"])).json()["id"])
        cancelled = cancelling.cancel(cancelled)
    with recovered_to(moment, place / "backup", place / "restored"):
        call_command("recover")
        assert buyer.look_up(parcel["trackingId"]).json() == parcel
        for id_ in [before, lost, *(label["id"] for label in after.values())]:
            label = buyer.get(f"{SHIPMENTS}/{id_}").json()
            assert client().get(label["labelUrl"]).content.startswith(b"%PDF")
        replayed = post(buyer, order(PRODUCT["beta"]), key="key-beta")
        assert (replayed.status_code, replayed.json()["id"]) == (201, after["beta"]["id"])
        assert post(buyer, order(), key="key-lost").json()["id"] == lost
        assert ShippingLabel.objects.get(id=cancelled.id).state == cancelled.state == LabelState.CANCELLED
        assert check() == ""
        assert len(sandbox.made()) == 5


def test_a_server_without_the_slot_begins_anew_and_nothing_is_lost(buyer: Caller, place: Path) -> None:
    for _ in range(2):
        with backed_up_to(place / "backup"):
            pass
    [earlier] = place.glob("backup/before-*")
    assert len(list(earlier.glob("copies/*/complete"))) == 1
    assert len(list(place.glob("backup/copies/*/complete"))) == 1


def test_a_moment_before_the_backup_and_a_folder_in_use_are_refused(buyer: Caller, place: Path) -> None:
    with backed_up_to(place / "backup"):
        pass
    [complete] = place.glob("backup/copies/*/complete")
    os.utime(complete, (1_767_225_600.9, 1_767_225_600.9))
    early = "2026-01-01 00:00:00.5+00"  # of the same second
    refusals = {"restored": f"there is no copy from before {early}", "backup": f"{place}/backup is not empty"}
    for name, told in refusals.items():
        command: list[str | Path] = [BACKUP, "restore", place / "backup", place / name, early]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.strip()) == (1, told)
    assert not (place / "restored").exists()


def test_old_copies_go_with_their_wal_and_the_newest_stays(buyer: Caller, place: Path) -> None:
    backup = place / "backup"
    with backed_up_to(backup):
        [first] = backup.glob("copies/*")
        old, unfinished = backup / "wal" / "old", backup / "wal" / "old.partial"
        for each in (old, unfinished):
            each.touch()
        for each in (first, first / "begun", old, unfinished):
            os.utime(each, (0, 0))
        subprocess.run(
            [BACKUP, "now", backup], env=programs(os.environ["DATABASE_URL"]) | {"KEEP_DAYS": "1"}, check=True
        )
        [second] = backup.glob("copies/*")
        assert second != first
        assert (old.exists(), unfinished.exists()) == (False, True)


def test_a_copy_alone_begins_a_folder(buyer: Caller, place: Path) -> None:
    command: list[str | Path] = [BACKUP, "now", place / "backup"]
    done = subprocess.run(
        command, env=programs(os.environ["DATABASE_URL"]), capture_output=True, text=True, check=False
    )
    [complete] = place.glob("backup/copies/*/complete")
    assert (done.returncode, done.stdout) == (0, f"copied to {complete.parent}\n")
