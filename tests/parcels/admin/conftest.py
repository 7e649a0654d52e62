"""A shop, and a member of the staff who may see its parcels."""

import pytest
from django.test import Client

from shops.models import Shop
from tests.support.api import logged_in
from tests.support.factories import ShopFactory


@pytest.fixture
def staff(db: None, no_sidebar: None) -> Client:
    return logged_in("view_parcel", "view_shop", "view_personal_data")


@pytest.fixture
def shop(db: None) -> Shop:
    return ShopFactory(name="Maison Lumière")
