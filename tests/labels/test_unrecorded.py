"""A label bought while the database was away is in the storage, and is recorded from there."""

from pathlib import Path
from typing import Any

import pytest

from carriers.shipment import PickupPoint, PurchasedLabel
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState
from labels.pdfs import recovery, storage
from tests.labels.conftest import Sandbox, assert_coded, nothing_recorded, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import BETA, KEY, assert_bought, pass_time
from tests.labels.orders import PRODUCT, order, post, weighing
from tests.labels.test_storage_check import check
from tests.labels.urls import fetch
from tests.support.api import Caller


@pytest.mark.parametrize("body", [*map(order, PRODUCT.values()), order(parcels=weighing(1, 2))])
def test_it_is_recorded_with_its_numbers_without_asking_the_carrier(
    body: Any, kept: str, buyer: Caller, sandbox: Sandbox
) -> None:
    with nothing_recorded():
        assert "_OUTCOME_UNKNOWN" in post(buyer, body, key=KEY).json()["code"]
    assert row().state == LabelState.PURCHASING
    pass_time()
    calls = sandbox.calls()
    assert reconcile() == {LabelState.GENERATED: 1}
    assert row().tracking_numbers == [parcel.tracking_number for parcel in sandbox.made()]
    assert fetch(post(buyer, body, key=KEY).json()["labelUrl"]).is_pdf
    assert (sandbox.questions(), sandbox.calls()) == (0, calls)
    assert not storage.is_stored(recovery.facts_key(row()))
    assert check() == ([], "")


def test_it_is_told_by_check_labels_until_then(buyer: Caller, sandbox: Sandbox) -> None:
    with nothing_recorded():
        post(buyer, order(BETA), key=KEY)
    told = f"{row().id} of shop own, purchasing"
    assert sorted(check()[0]) == [f"not finished: {told}", f"not recorded: {told}"]


def test_a_storage_that_cannot_be_asked_decides_nothing(buyer: Caller, sandbox: Sandbox, folder: Path) -> None:
    with nothing_recorded():
        post(buyer, order(), key=KEY)
    pass_time()
    folder.rename(folder.with_name("away"))
    folder.write_text("no folder")
    assert reconcile() == {LabelState.UNKNOWN: 1}
    assert sandbox.questions() == 0
    folder.unlink()
    folder.with_name("away").rename(folder)
    pass_time(400)
    assert reconcile() == {LabelState.GENERATED: 1}
    assert_bought(buyer, sandbox)


def test_with_neither_database_nor_storage_the_numbers_are_in_the_log(
    buyer: Caller, sandbox: Sandbox, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("no folder")
    with nothing_recorded():
        assert_coded(post(buyer, order(BETA), key=KEY), 502, "BETA_OUTCOME_UNKNOWN")
    (alarm,) = [record for record in caplog.records if record.levelname == "CRITICAL"]
    assert vars(alarm)["tracking_numbers"] == sandbox.made()[0].tracking_number


def test_a_warning_and_the_pickup_point_are_recorded_too(buyer: Caller) -> None:
    point = PickupPoint("1234A", name="Tabac", address1="1 rue A", zip_code="75011", city="Paris", country_code="FR")
    label = LabelFactory(shop=buyer.shop, state=LabelState.PURCHASING)
    recovery.save(label, PurchasedLabel(("N1",), {"N1": b"%PDF-"}, warnings=("Ligne coupée",), pickup_point=point))
    found = recovery.find(label)
    assert found is not None
    assert (found.warnings, found.pickup_point) == (("Ligne coupée",), point)
