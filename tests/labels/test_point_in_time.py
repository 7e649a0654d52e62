"""A recovery to a point in time, from a base backup and archived WAL, finds again what was bought after that point.

As in docs/runbook.md, with PostgreSQL's own programs; the archive is what pg_receivewal streams from the server.
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

from labels.models import ShippingLabel
from tests.labels.backups import check, postgresql_program
from tests.labels.conftest import Sandbox
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, client, forget
from tests.support.factories import import_parcel
from tests.support.paths import SHIPMENTS
from tests.support.services import data_folder, postgresql
from tests.support.waiting import until

pytestmark = pytest.mark.real_services


@pytest.fixture
def place() -> Iterator[Path]:
    with data_folder() as made:
        yield made


@contextmanager
def archived_to(folder: Path) -> Iterator[None]:
    """Archive the server's WAL while the block runs, the last of it included."""
    folder.mkdir()
    ask("SELECT pg_create_physical_replication_slot('archive', true)")  # it keeps what was not fetched yet
    receive = [postgresql_program("pg_receivewal"), f"--dbname={os.environ['DATABASE_URL']}", "--slot=archive"]
    with subprocess.Popen([*receive, f"--directory={folder}"]) as process:
        try:
            yield
            until((folder / ask("SELECT pg_walfile_name(pg_switch_wal())")).exists)
        finally:
            process.terminate()
    until(lambda: ask("SELECT active FROM pg_replication_slots") == "False")
    ask("SELECT pg_drop_replication_slot('archive')")


def ask(query: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return str(cursor.fetchone()[0])


def back_up(folder: Path) -> None:
    options = ["--wal-method=none", "--checkpoint=fast", "--no-sync", f"--dbname={os.environ['DATABASE_URL']}"]
    subprocess.run([postgresql_program("pg_basebackup"), f"--pgdata={folder}", *options], check=True)
    for name in (".handle_pids.json", ".s.PGSQL.5432.lock"):  # of the server that was copied
        (folder / name).unlink()


def hand_over(folder: Path) -> None:
    """Give a folder to the user that servers run as, which is another one where the tests are run by root."""
    owner = Path(ask("SHOW data_directory")).stat()
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, owner.st_uid, owner.st_gid)


@contextmanager
def recovered(base: Path, wal: Path, moment: str) -> Iterator[None]:
    """Recover a base backup up to a moment, with a server of its own, and let the service use that one."""
    settings = {"restore_command": f'cp "{wal}/%f" "%p"', "recovery_target_time": moment}
    with (base / "postgresql.auto.conf").open("a") as conf:
        conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        conf.write("recovery_target_action = 'promote'\n")
    (base / "recovery.signal").touch()
    hand_over(base)
    hand_over(wal)
    original = connection.settings_dict["HOST"]
    with postgresql(base) as url:
        connection.close()
        connection.settings_dict["HOST"] = parse_qs(urlsplit(url).query)["host"][0]
        forget()
        try:
            until(lambda: ask("SELECT pg_is_in_recovery()") == "False")
            yield
        finally:
            connection.close()
            connection.settings_dict["HOST"] = original


def test_what_was_bought_after_the_point_is_found_by_its_pdf(
    buyer: Caller, sandbox: Sandbox, folder: Path, place: Path
) -> None:
    parcel = import_parcel(buyer.shop)
    with archived_to(place / "wal"):
        before = post(buyer, order()).json()["id"]
        back_up(place / "base")
        after = {carrier: post(buyer, order(code), key=f"key-{carrier}").json() for carrier, code in PRODUCT.items()}
        moment = ask("SELECT clock_timestamp()")
        post(buyer, order())
        lost = ShippingLabel.objects.exclude(id__in=[before, *(label["id"] for label in after.values())]).get()
    with recovered(place / "base", place / "wal", moment):
        call_command("reconcile_labels")
        assert buyer.look_up(parcel["trackingId"]).json() == parcel
        for id_ in [before, *(label["id"] for label in after.values())]:
            label = buyer.get(f"{SHIPMENTS}/{id_}").json()
            assert client().get(label["labelUrl"]).content.startswith(b"%PDF")
        replayed = post(buyer, order(PRODUCT["beta"]), key="key-beta")
        assert (replayed.status_code, replayed.json()["id"]) == (201, after["beta"]["id"])
        assert buyer.get(f"{SHIPMENTS}/{lost.id}").status_code == 404
        assert check() == f"no row: {lost.pdf_key}\n1 no row"
        assert len(sandbox.made()) == 4
