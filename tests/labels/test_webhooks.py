"""A shop's webhooks are told of its labels: once each, in the transaction of the change (`test_states` has each)."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError

from labels.models import LabelState, ShippingLabel
from shops.webhooks import outbox
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import row
from tests.labels.interruptions import KEY
from tests.labels.orders import order, post
from tests.support.api import Caller


def told() -> list[tuple[str, dict[str, Any]]]:
    return [(each.type, each.data) for each in WebhookEvent.objects.order_by("id") if each.type.startswith("label")]


def facts(label: ShippingLabel) -> dict[str, Any]:
    carrier = {"carrierCode": label.carrier_code, "productCode": label.product_code}
    return {"id": label.id, "orderId": label.order_id, **carrier}


def test_a_bought_label_is_told_once(buyer: Caller) -> None:
    for _ in range(2):
        assert post(buyer, order(), key=KEY).status_code == 201
    label = row()
    assert told() == [("label.generated", facts(label) | {"trackingNumbers": label.tracking_numbers})]


def test_an_event_that_cant_be_written_undoes_the_change(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labels.lifecycle.db_retry.DB_RETRY_TIMEOUT_S", 0)
    monkeypatch.setattr(outbox, "write", Mock(side_effect=OperationalError))
    assert post(buyer, order()).status_code == 500
    assert row().state == LabelState.RECEIVED
