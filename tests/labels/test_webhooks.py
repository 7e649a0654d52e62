"""A shop's webhooks are told of its labels: once each, in the transaction of the change."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError

from labels.lifecycle import cancelling
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from shops.webhooks import outbox
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import Sandbox, row
from tests.labels.interruptions import CANCEL, KEY, interrupt, pass_time
from tests.labels.orders import order, post
from tests.support.api import Caller


def told() -> list[tuple[str, dict[str, Any]]]:
    return [(each.type, each.data) for each in WebhookEvent.objects.order_by("id") if each.type.startswith("label")]


def types() -> list[str]:
    return [name for name, _ in told()]


def facts(label: ShippingLabel) -> dict[str, Any]:
    carrier = {"carrierCode": label.carrier_code, "productCode": label.product_code}
    return {"id": label.id, "orderId": label.order_id, **carrier}


def test_a_bought_label_is_told_once(buyer: Caller) -> None:
    for _ in range(2):
        assert post(buyer, order(), key=KEY).status_code == 201
    label = row()
    assert told() == [("label.generated", facts(label) | {"trackingNumbers": label.tracking_numbers})]


def test_an_unknown_outcome_is_told_when_it_is_settled(buyer: Caller, sandbox: Sandbox) -> None:
    interrupt(buyer, sandbox, "closemade")
    assert told() == []
    pass_time()
    assert reconcile() == {LabelState.FAILED: 1}
    label = row()
    assert told() == [("label.failed", facts(label) | {"code": label.error_code})]
    reconcile()
    assert len(told()) == 1


def test_a_cancellation_is_told_when_it_is_done(buyer: Caller, sandbox: Sandbox) -> None:
    assert post(buyer, order()).status_code == 201
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    cancelling.cancel(row())
    assert types() == ["label.generated"]
    sandbox.disarm()
    pass_time(600)
    reconcile()
    assert row().state == LabelState.CANCELLED
    label = row()
    assert told()[1:] == [("label.cancelled", facts(label) | {"trackingNumbers": label.tracking_numbers})]


def test_an_event_that_cant_be_written_undoes_the_change(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labels.lifecycle.db_retry.DB_RETRY_TIMEOUT_S", 0)
    monkeypatch.setattr(outbox, "write", Mock(side_effect=OperationalError))
    assert post(buyer, order()).status_code == 500
    assert row().state == LabelState.RECEIVED
