"""A committed row that a failover loses is written again by its purchase, with an alarm."""

from typing import Any

import pytest

from carriers.products import PRODUCTS
from labels.lifecycle.states import Event, move
from labels.models import LabelState, ShippingLabel
from shops.contracts import clients
from tests.labels.conftest import Sandbox, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import assert_bought
from tests.labels.orders import PRODUCT, order, post
from tests.labels.test_metrics import value
from tests.support.api import Caller

VANISHED = "label_rows_vanished_total"


@pytest.fixture
def failover(buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the database lose the row while the carrier is asked."""
    for carrier_code in PRODUCT:
        client = clients.client(carrier_code, is_test=False)

        def lose(*args: Any, create_label: Any = client.create_label, **options: Any) -> Any:
            try:
                return create_label(*args, **options)
            finally:
                ShippingLabel.objects.filter(state=LabelState.PURCHASING).delete()

        monkeypatch.setattr(client, "create_label", lose)


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_bought_label_is_written_again_with_an_alarm(
    product_code: str, failover: None, buyer: Caller, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    carrier = PRODUCTS[product_code].carrier
    before = value(VANISHED, carrier=carrier)
    assert post(buyer, order(product_code), key="k").status_code == 201
    assert_bought(buyer, sandbox)
    assert post(buyer, order(product_code), key="k")["Idempotent-Replayed"] == "true"
    assert (sandbox.calls(), value(VANISHED, carrier=carrier)) == (1, before + 1)
    (alarm,) = [record for record in caplog.records if record.levelname == "CRITICAL"]
    assert vars(alarm)["tracking_numbers"] == row().tracking_number


def test_a_key_that_another_purchase_has_by_now_stays_there(own: Caller) -> None:
    lost = LabelFactory(shop=own.shop, state="received", idempotency_key="k")
    ShippingLabel.objects.filter(id=lost.id).delete()
    later = LabelFactory(shop=own.shop, idempotency_key="k")
    assert move(lost, Event.BOUGHT, tracking_numbers=["XS1"])
    kept = ShippingLabel.objects.get(id=lost.id)
    assert (kept.state, kept.tracking_numbers, kept.idempotency_key) == (LabelState.RECEIVED, ["XS1"], None)
    later.refresh_from_db()
    assert later.idempotency_key == "k"


def test_what_another_process_decided_meanwhile_is_no_vanished_row(own: Caller) -> None:
    label, before = LabelFactory(shop=own.shop), value(VANISHED, carrier="beta")
    assert not move(label, Event.UNANSWERED)
    assert (row().state, value(VANISHED, carrier="beta")) == (LabelState.GENERATED, before)
