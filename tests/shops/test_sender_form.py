"""A shop's sender address as fields of the admin's form, with the command's checks."""

import pytest
from django.test import Client

from shops.models import Shop
from tests.labels.orders import SENDER
from tests.support.api import Response, logged_in

pytestmark = pytest.mark.django_db
PERMISSIONS = ("view_shop", "change_shop")


def save(staff: Client, shop: Shop, **address: str) -> Response:
    fields = {f"sender_{name}": value for name, value in address.items()}
    page = {"name": shop.name, "is_active": "on", "tokens-TOTAL_FORMS": 0, "tokens-INITIAL_FORMS": 0}
    return staff.post(f"/admin/shops/shop/{shop.id}/change/", page | fields, follow=True)


def test_an_address_is_typed_shown_and_taken_away(staff: Client, shop: Shop) -> None:
    save(staff, shop, **SENDER | {"phone": "04 72 00 11 22"})
    shop.refresh_from_db()
    assert shop.sender_address == SENDER
    assert 'value="Lefèvre"' in staff.get(f"/admin/shops/shop/{shop.id}/change/").text
    save(staff, shop, **dict.fromkeys(SENDER, ""))
    shop.refresh_from_db()
    assert shop.sender_address is None


def test_what_is_wrong_is_told_at_its_field_and_nothing_changes(staff: Client, shop: Shop) -> None:
    answer = save(staff, shop, **SENDER | {"city": "", "phone": "x", "countryCode": "fr"})
    errors = answer.context["adminform"].form.errors
    assert set(errors) >= {"sender_city", "sender_countryCode"}
    shop.refresh_from_db()
    assert shop.sender_address is None


def test_an_address_that_no_carrier_can_print_is_refused(staff: Client, shop: Shop) -> None:
    answer = save(staff, shop, **SENDER | {"city": "☃"})
    assert "has no text that alpha can print" in answer.text
    shop.refresh_from_db()
    assert shop.sender_address is None


def test_an_address_that_one_carrier_can_not_print_is_set_and_said_so(staff: Client, shop: Shop) -> None:
    answer = save(staff, shop, **SENDER | {"lastName": "Long" * 9})
    assert "Labels of beta can&#x27;t be sent from this address" in answer.text
    shop.refresh_from_db()
    assert shop.sender_address is not None


def test_who_may_only_look_sees_the_address(shop: Shop) -> None:
    Shop.objects.update(sender_address=SENDER)
    page = logged_in("view_shop", name="viewer").get(f"/admin/shops/shop/{shop.id}/change/").text
    assert "3 rue de l&#x27;Église" in page
    assert 'name="sender_city"' not in page
