"""A member of the staff who decides labels."""

import pytest
from django.test import Client

from tests.support.api import logged_in


@pytest.fixture
def staff(db: None, no_sidebar: None) -> Client:
    return logged_in(
        "view_shippinglabel", "change_shippinglabel", "view_carriercontract", "view_shop", "view_personal_data"
    )
