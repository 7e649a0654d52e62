"""A member of the staff, and the shop whose labels they look at."""

import pytest
from django.test import Client

from shops.models import Shop
from tests.support.api import logged_in
from tests.support.factories import ShopFactory


@pytest.fixture
def staff(db: None, no_sidebar: None) -> Client:
    return logged_in(
        "view_shippinglabel", "change_shippinglabel", "view_carriercontract", "view_shop", "view_personal_data"
    )


@pytest.fixture
def shop(db: None) -> Shop:
    made: Shop = ShopFactory(id="lumiere", name="Maison Lumière")
    return made
