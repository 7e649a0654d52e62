"""``reconcile_labels``, ``check_labels``, and orders on what the commands for contracts and addresses have set."""

from codecs import BOM_UTF8
from pathlib import Path

import orjson
import pytest

from labels.models import LabelState, ShippingLabel
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, row
from tests.labels.factories import LabelFactory
from tests.labels.orders import ACCOUNT, PASSWORD, PRODUCT, SENDER, order, post
from tests.shops.commands import call, run_here
from tests.support.api import Caller
from tests.support.processes import run_command

pytestmark = pytest.mark.any_database


def test_a_contract_made_by_the_command_buys_a_label(buyer: Caller, sandbox: Sandbox) -> None:
    CarrierContract.objects.all().delete()
    for carrier_code, product_code in PRODUCT.items():
        code, out, err = run_here(
            "configure_carrier",
            *(buyer.shop.id, carrier_code, "--account-number", ACCOUNT[carrier_code], "--password-stdin"),
            *("--product", product_code),
            stdin=PASSWORD[carrier_code].encode() + b"\n",
        )
        assert (code, err) == (0, "")
        assert out == f"{CarrierContract.objects.get(carrier_code=carrier_code).id}\n"
        assert post(buyer, order(product_code)).status_code == 201
    assert [parcel.account for parcel in sandbox.made()] == [ACCOUNT["alpha"], ACCOUNT["beta"]]


def test_the_address_set_by_the_command_is_what_labels_are_sent_from(buyer: Caller, tmp_path: Path) -> None:
    file = tmp_path / "address.json"
    file.write_bytes(orjson.dumps(SENDER | {"phone": "04 72 00 11 22", "unknown": 1}))
    code, out, err = run_here("set_sender_address", buyer.shop.id, file)
    assert (code, out, len(err.splitlines())) == (0, "", 1)
    body = order()
    del body["originAddress"]
    assert post(buyer, body).status_code == 201
    assert row().sender == SENDER
    marked = BOM_UTF8 + orjson.dumps(SENDER | {"city": "Nantes"})
    code, out, err = run_here("set_sender_address", buyer.shop.id, "-", stdin=marked)
    assert (code, out) == (0, "")
    buyer.shop.refresh_from_db()
    assert buyer.shop.sender_address == SENDER | {"city": "Nantes"}


def test_reconciling_prints_how_many_labels_it_took_up(buyer: Caller, folder: Path) -> None:
    assert call("reconcile_labels") == ("0\n", "")
    folder.write_text("no folder")
    post(buyer, order())
    assert call("reconcile_labels") == ("1\n", "1 received\n")
    folder.unlink()
    assert call("reconcile_labels") == ("1\n", "1 label_generated\n")
    assert row().state == LabelState.GENERATED
    assert call("reconcile_labels") == ("0\n", "")


def test_reconciling_counts_what_it_holds_for_a_person_as_well(own: Caller) -> None:
    held = LabelFactory(shop=own.shop, days_ago=1, state="unknown", carrier_code="alpha")
    for _ in range(2):
        assert call("reconcile_labels") == ("1\n", "1 unknown\n")
        past = held.leased_until
        ShippingLabel.objects.filter(id=held.id).update(leased_until=past, ask_again_at=past)  # it is due again


def test_a_folder_that_is_gone_keeps_no_command_from_its_work(transactional_db: None) -> None:
    code, out, err = run_command("reconcile_labels", LABELS_DIR="/etc/passwd")
    assert (code, out, err) == (0, "0\n", "")


def test_a_files_name_that_is_not_utf_8_is_told(transactional_db: None, folder: Path) -> None:
    month = folder / "labels/2026/11"
    month.mkdir(parents=True)
    Path(f"{month}/\udcff.pdf").touch()
    code, out, err = run_here("check_labels")
    assert (code, out, err) == (1, "no row: labels/2026/11/\\udcff.pdf\n", "CommandError: 1 no row\n")
