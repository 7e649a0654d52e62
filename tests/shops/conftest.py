"""The carriers' sandbox, for checks of contracts, and a shop."""

import pytest

from shops.models import Shop
from tests.labels.conftest import sandbox, sandbox_server
from tests.support.factories import ShopFactory

__all__ = ["sandbox", "sandbox_server"]


@pytest.fixture
def shop(db: None) -> Shop:
    made: Shop = ShopFactory(id="shop")
    return made
