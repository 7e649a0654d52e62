"""Purchases played in one process, with the sandbox over real HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.utils import timezone

from carriers.sandbox.server import SandboxServer
from labels import orders
from labels.idempotency import IdempotencyKey
from labels.lifecycle import purchase
from labels.models import ShippingLabel
from labels.serializers import LabelOrderSerializer
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract
from tests.drills.shop import SENDER, add_contract, order
from tests.support.factories import ShopFactory

KEY = IdempotencyKey("key", "digest")


@pytest.fixture
def sandbox(settings: Any, tmp_path: Any) -> Iterator[SandboxServer]:
    with SandboxServer() as server:
        alpha = {"url": server.urls["ALPHA_URL"], "tracking_url": server.urls["ALPHA_TRACKING_URL"]}
        settings.CARRIER_ENDPOINTS = {"alpha": alpha, "beta": {"url": server.urls["BETA_URL"]}}
        settings.STORAGES = settings.STORAGES | {
            "labels": {"BACKEND": "labels.pdfs.folder.LabelFolder", "OPTIONS": {"location": str(tmp_path)}}
        }
        client.cache_clear()
        yield server
    client.cache_clear()


@pytest.fixture
def contract(sandbox: SandboxServer) -> CarrierContract:
    made: CarrierContract = add_contract(ShopFactory(id="shop"), "alpha")
    return made


def ordered(**fields: Any) -> dict[str, Any]:
    """An order as the API validates it."""
    serializer = LabelOrderSerializer(data=order("order", "alpha") | {"originAddress": SENDER} | fields)
    serializer.is_valid(raise_exception=True)
    validated: dict[str, Any] = serializer.validated_data
    return validated


def buy(**fields: Any) -> ShippingLabel:
    return purchase.buy(shop_id="shop", order=ordered(**fields), key=KEY)[0]


def parcels_made(sandbox: SandboxServer) -> int:
    return int(requests.get(f"{sandbox.url}/ledger/count", timeout=60).json()["count"])


def interrupted(**fields: Any) -> ShippingLabel:
    """Make a purchase that was interrupted half an hour ago."""
    order = ordered()
    contract = CarrierContract.objects.get(shop="shop", carrier_code=order["carrier_code"])
    label = orders.new_label(contract=contract, order=order, key=KEY, token_id="")
    label.created_at = timezone.now() - timedelta(minutes=90)
    label.leased_until = timezone.now() - timedelta(minutes=20)
    for name, value in fields.items():
        setattr(label, name, value)
    label.save(force_insert=True)
    CarrierContract.objects.update(updated_at=label.created_at - timedelta(days=1))
    return label


def state(label: ShippingLabel) -> str:
    return str(ShippingLabel.objects.get(id=label.id).state)
