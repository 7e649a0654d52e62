"""A backup that was restored onto nothing serves all that matters: tokens, parcels, labels, PDFs, contracts.

As in docs/runbook/install.md: the database first and the PDFs after it, then back in the other order.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from labels.models import ShippingLabel
from parcels.models import Parcel
from shops.contracts.models import CarrierContract
from shops.models import AccessToken, Shop
from tests.labels.backups import check, postgresql_program, url
from tests.labels.conftest import Sandbox
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, client, forget
from tests.support.factories import import_parcel
from tests.support.paths import SHIPMENTS

pytestmark = pytest.mark.real_services
RESTORED = "restored"


def dump(file: Path) -> None:
    name = connection.settings_dict["NAME"]
    subprocess.run([postgresql_program("pg_dump"), "--format=custom", f"--file={file}", url(str(name))], check=True)


@contextmanager
def restored(file: Path) -> Iterator[None]:
    """Restore a dump into a database that was not there before, and let the service use it."""
    original = connection.settings_dict["NAME"]
    with psycopg.connect(url("postgres"), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(RESTORED)))
        try:
            restore = [postgresql_program("pg_restore"), "--exit-on-error", f"--dbname={url(RESTORED)}", str(file)]
            subprocess.run(restore, check=True)
            connection.close()
            connection.settings_dict["NAME"] = RESTORED
            forget()
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = original
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(RESTORED)))


def lose_everything(folder: Path) -> None:
    shutil.rmtree(folder)
    call_command("flush", interactive=False, verbosity=0)
    assert {model._base_manager.count() for model in (Shop, AccessToken, Parcel, ShippingLabel, CarrierContract)} == {0}
    forget()


def test_all_that_matters_is_there_again(buyer: Caller, sandbox: Sandbox, folder: Path, tmp_path: Path) -> None:
    parcel = import_parcel(buyer.shop)
    created = {carrier: post(buyer, order(code), key=f"key-{carrier}").json() for carrier, code in PRODUCT.items()}
    pdfs = {carrier: client().get(label["labelUrl"]).content for carrier, label in created.items()}
    dump(tmp_path / "database.dump")
    shutil.copytree(folder, tmp_path / "pdfs")
    lose_everything(folder)
    assert buyer.look_up(parcel["trackingId"]).status_code == 403

    shutil.copytree(tmp_path / "pdfs", folder)
    with restored(tmp_path / "database.dump"):
        call_command("migrate", verbosity=0)
        assert buyer.look_up(parcel["trackingId"]).json() == parcel
        for carrier, label in created.items():
            retrieved = buyer.get(f"{SHIPMENTS}/{label['id']}").json()
            assert retrieved | {"labelUrl": ""} == label | {"labelUrl": ""}
            assert client().get(retrieved["labelUrl"]).content == pdfs[carrier]
            replayed = post(buyer, order(PRODUCT[carrier]), key=f"key-{carrier}")  # the keys are there too,
            assert (replayed.status_code, replayed.json()["id"]) == (201, label["id"])
            assert post(buyer, order(PRODUCT[carrier])).status_code == 201  # and the contracts' passwords are read
        assert len(sandbox.made()) == 4
        assert check() == ""


def test_what_was_bought_after_the_backup_is_found_by_its_pdf(buyer: Caller, folder: Path, tmp_path: Path) -> None:
    """The database is restored to an earlier time than the PDFs, as after a recovery to a point in time."""
    before = post(buyer, order()).json()["id"]
    dump(tmp_path / "database.dump")
    post(buyer, order())
    lost = ShippingLabel.objects.exclude(id=before).get()
    with restored(tmp_path / "database.dump"):
        assert buyer.get(f"{SHIPMENTS}/{before}").status_code == 200
        assert buyer.get(f"{SHIPMENTS}/{lost.id}").status_code == 404
        assert check() == f"no row: {lost.pdf_key}\n1 no row"


def test_pdfs_copied_before_the_database_leave_a_label_without_its_pdf(
    buyer: Caller, folder: Path, tmp_path: Path
) -> None:
    """The reason for the order of a backup: the database first, then the PDFs."""
    post(buyer, order())
    shutil.copytree(folder, tmp_path / "pdfs")
    last = post(buyer, order()).json()["id"]
    dump(tmp_path / "database.dump")
    lose_everything(folder)
    shutil.copytree(tmp_path / "pdfs", folder)
    with restored(tmp_path / "database.dump"):
        assert check() == f"no PDF: {last} of shop own, label_generated\n1 no PDF"
