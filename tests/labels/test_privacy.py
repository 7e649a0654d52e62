"""An order's two addresses and the contracts' secrets are in no answer and no log line, however it ends."""

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from carriers.alpha.client import Alpha
from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from config.ops.logs import JsonFormatter, TextFormatter
from labels.lifecycle.reconciling import reconcile
from labels.models import ShippingLabel
from parcels.models import Parcel
from parcels.tracking.events import milliseconds
from shops.contracts.models import CarrierContract
from shops.webhooks import endpoints
from tests.labels.conftest import Sandbox, row
from tests.labels.interruptions import pass_time
from tests.labels.orders import PRODUCT, SENDER, order, personal_in, post
from tests.support.api import Caller, Response
from tests.support.canaries import canary, found_in, full_order
from tests.support.desk import UNDRAWN, member
from tests.support.factories import DestinationFactory, EventFactory, LineItemFactory, import_parcel
from tests.support.paths import SHIPMENTS
from tests.support.tracking import record

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


def test_of_a_purchase_that_a_fault_of_ours_breaks_off(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Alpha, shipment: Any, credentials: Any) -> Any:
        raise RuntimeError(f"{shipment.sender.person} {shipment.recipient.email} {credentials.password}")

    monkeypatch.setattr(Alpha, "create_label", broken)
    responses = [post(buyer, order(), key="k") for _ in range(2)]
    assert [response.json()["code"] for response in responses] == ["ALPHA_OUTCOME_UNKNOWN"] * 2
    assert ShippingLabel.objects.count() == 1
    assert_private(*responses)


# Nothing after an erasure and a day

EMAIL = "jane.quibble@mail.example"
ABROAD = "beta_domicile_signature_monde"
TOKEN = re.compile(r"(?:pts|whsec)_[\w+/=-]{12,}")  # kept as a digest, or encrypted


def ordered(buyer: Caller, product_code: str, **changes: Any) -> ShippingLabel:
    """Buy a label with canaries in all that an order may say in words."""
    body = full_order(product_code, orderId="5400000007", **changes)
    body["destinationAddress"] |= {"email": EMAIL, "address2": canary(), "company": canary()}
    item = {"description": canary(), "quantity": 1, "unitValue": 9.5, "weight": 0.1, "hsCode": "340600"}
    if product_code == ABROAD:
        texts = {name: canary() for name in ("invoiceNumber", "comments")}
        body["destinationAddress"]["instructions"] = canary()
        body |= {"customs": {"items": [item]} | texts}
    answer = post(buyer, body, key=f"{canary()} {EMAIL}").json()
    return ShippingLabel.objects.get(id=answer["id"]) if "id" in answer else ShippingLabel.objects.latest("id")


def imported(buyer: Caller, **fields: Any) -> None:
    """Import a parcel of the customer's, without the e-mail, with canaries in what is personal."""
    names = {name: canary() for name in ("firstName", "lastName", "name", "company", "address1", "address2", "city")}
    import_parcel(
        buyer.shop,
        destination=DestinationFactory(**names, zip=canary()),
        customerEmail=None,
        customerLocale=canary(),
        previousEmails=[],
        giftConfig={canary(): canary()},
        crossSellRecommendations=[canary()],
        lineItems=[LineItemFactory(name=canary(), imageUrl=f"https://cdn.example.com/{canary()}", metadata=canary())],
        events=[EventFactory(label=canary(), notifications=[canary()])],
        carrierLastStatus={"code": "B10", "description": canary(), "date": 1_790_000_000_000},
        createdAt=milliseconds(timezone.now()),  # about when the label was bought: its number is not a later one's
        **fields,
    )


def reported(parcel_id: str, number: str) -> None:
    """Let the carrier answer with canaries, in a code that its table has and in one that it lacks."""
    at = datetime.now(UTC) - timedelta(hours=2)
    events = tuple(
        TrackingEvent(number, code, at + timedelta(minutes=rank), canary(), canary(), Status.IN_TRANSIT, is_listed)
        for rank, (code, is_listed) in enumerate([("PCHCFM", True), ("ZZZZZZ", False)])
    )
    record(parcel_id, [TrackingAnswer(number, True, events)], now=timezone.now())


def tables() -> str:
    return repr([list(model._base_manager.values()) for model in apps.get_models() if model._meta.managed])


def left(folder: Path) -> list[bytes]:
    """Canaries in any table and any file."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return found_in(tables().encode() + b"".join(files))


@pytest.mark.any_database
@pytest.mark.parametrize("product_code", ["alpha-13", ABROAD])
def test_after_an_erasure_and_a_day_no_table_and_no_file_has_any(
    product_code: str, buyer: Caller, folder: Path, settings: Any, no_sidebar: None
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    endpoints.create(shop=buyer.shop, url="https://203.0.113.1/")
    label = ordered(buyer, product_code)
    assert label.state == "label_generated", label.error_message
    ordered(buyer, product_code, reference="FAULT 33" if product_code == "alpha-13" else "FAULT 30204")
    reported(label.id, label.tracking_number)
    imported(buyer, id="P1", orderId="5400000007", trackingId="N9")
    imported(buyer, id="P2", orderId="another", trackingId=label.tracking_number)
    support = member("Support")
    boxes = cycle(("/admin/search/", "/admin/labels/shippinglabel/"))
    words = sorted({found.decode() for found in left(folder)})  # a search treats all alike
    with UNDRAWN:
        for text in [EMAIL, EMAIL, buyer.token, buyer.token, *words[::5]]:
            support.get(next(boxes), {"q": text})
    assert TOKEN.search(buyer.token)
    assert TOKEN.findall(tables()) == []
    assert len(set(left(folder))) > 20
    call_command("erase_customer", buyer.shop.id, EMAIL)
    erased_at = F("addresses_removed_at") - timedelta(hours=2)
    ShippingLabel.objects.update(finished_at=timezone.now() - timedelta(hours=25), addresses_removed_at=erased_at)
    call_command("apply_retention")
    assert left(folder) == []
    assert Parcel.objects.filter(id__in=["P1", "P2"]).count() == 2
