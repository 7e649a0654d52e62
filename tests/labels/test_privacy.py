"""An order's two addresses and the contracts' secrets are in no answer and no log line, however it ends."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carriers.alpha.client import Alpha
from config.ops.logs import JsonFormatter, TextFormatter
from labels.lifecycle.reconciling import reconcile
from labels.models import ShippingLabel
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, row
from tests.labels.interruptions import pass_time
from tests.labels.orders import PRODUCT, SENDER, order, personal_in, post
from tests.support.api import Caller, Response
from tests.support.paths import SHIPMENTS

LINK = re.compile(r'"labelUrl":"[^"]*"')  # its random signature may spell anything


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Search the test's log after it, in both formats of the service."""
    caplog.set_level(logging.DEBUG)
    yield
    records = caplog.get_records("call")
    assert [record for record in records if record.name == "service.request"]
    for formatter in (JsonFormatter(), TextFormatter()):
        lines = [formatter.format(record) for record in records]
        assert [line for line in lines if personal_in(line)] == []


def assert_private(*responses: Response) -> None:
    for response in responses:
        whole = response.content.decode() + str(response.headers)
        assert personal_in(LINK.sub("", whole)) == []


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_of_a_label_that_is_bought_replayed_and_retrieved(product_code: str, buyer: Caller) -> None:
    buyer.shop.sender_address = SENDER
    buyer.shop.save()
    body = order(product_code)
    del body["originAddress"]
    responses = [post(buyer, body, key="k"), post(buyer, body, key="k"), buyer.get(f"{SHIPMENTS}/{row().id}")]
    assert [response.status_code for response in responses] == [201, 201, 200]
    assert_private(*responses)


def test_of_a_body_that_is_refused(asker: Caller) -> None:
    broken = str(order()).encode()
    bad = order(
        origin={"phone": "Zoé"}, destination={"email": "soren", "zip": "75011" * 300, "countryCode": "Grünwald"}
    )
    responses = [post(asker, bad), post(asker, broken), post(asker, [order()]), post(asker, order(carrierCode="Lyon"))]
    assert [response.status_code for response in responses] == [400] * 4
    assert_private(*responses)


@pytest.mark.parametrize("fault", ["closemade", "close", "nolabel"])
def test_of_a_label_that_is_reconciled(fault: str, buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm(fault, count=1)
    first = post(buyer, order(), key="k")
    pass_time(2000)
    reconcile()
    assert_private(first, post(buyer, order(), key="k"))


def test_of_a_label_that_the_storage_refuses(buyer: Caller, folder: Path) -> None:
    folder.write_text("no folder")
    response = post(buyer, order(), key="k")
    reconcile()
    assert response.status_code == 500
    assert_private(response)


def test_of_a_contract_that_cannot_be_opened(buyer: Caller) -> None:
    CarrierContract.objects.update(encrypted_credentials="x")
    response = post(buyer, order())
    assert response.status_code == 502
    assert_private(response)


def test_of_a_purchase_that_a_fault_of_ours_breaks_off(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Alpha, shipment: Any, credentials: Any) -> Any:
        raise RuntimeError(f"{shipment.sender.person} {shipment.recipient.email} {credentials.password}")

    monkeypatch.setattr(Alpha, "create_label", broken)
    responses = [post(buyer, order(), key="k") for _ in range(2)]
    assert [response.json()["code"] for response in responses] == ["ALPHA_OUTCOME_UNKNOWN"] * 2
    assert ShippingLabel.objects.count() == 1
    assert_private(*responses)
