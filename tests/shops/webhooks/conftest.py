"""A receiver on the loopback, and an endpoint that leads to it."""

from collections.abc import Iterator
from typing import Any

import pytest

from shops.models import Shop
from shops.webhooks import endpoints
from shops.webhooks.models import WebhookEndpoint
from tests.shops.webhooks.receivers import Receiver
from tests.support.factories import ShopFactory


@pytest.fixture(autouse=True)
def private_allowed(settings: Any) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True


@pytest.fixture
def shop(db: None) -> Shop:
    made: Shop = ShopFactory(id="own", name="Own")
    return made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def endpoint(shop: Shop, receiver: Receiver) -> WebhookEndpoint:
    return endpoints.create(shop=shop, url=receiver.url)[0]
