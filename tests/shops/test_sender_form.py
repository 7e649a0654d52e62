"""A shop's sender address as fields of the admin's form, with the command's checks."""

import html

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
    answer = staff.post(f"/admin/shops/shop/{shop.id}/change/", page | fields, follow=True)
    shop.refresh_from_db()
    return answer


def test_an_address_is_typed_shown_and_taken_away(staff: Client, shop: Shop) -> None:
    save(staff, shop, **SENDER | {"phone": "04 72 00 11 22"})
    assert shop.sender_address == SENDER
    assert 'value="Lefèvre"' in staff.get(f"/admin/shops/shop/{shop.id}/change/").text
    save(staff, shop, **dict.fromkeys(SENDER, ""))
    assert shop.sender_address is None


def test_what_is_wrong_is_told_at_its_field_and_nothing_changes(staff: Client, shop: Shop) -> None:
    answer = save(staff, shop, **SENDER | {"city": "", "phone": "x", "countryCode": "fr"})
    errors = answer.context["adminform"].form.errors
    assert set(errors) >= {"sender_city", "sender_countryCode"}
    assert shop.sender_address is None


def test_an_address_that_no_carrier_can_print_is_refused(staff: Client, shop: Shop) -> None:
    answer = save(staff, shop, **SENDER | {"city": "☃"})
    assert "has no text that alpha can print" in answer.text
    assert shop.sender_address is None


def test_an_address_that_one_carrier_can_not_print_is_set_and_said_so(staff: Client, shop: Shop) -> None:
    answer = save(staff, shop, **SENDER | {"lastName": "Long" * 9})
    assert "Labels of beta can&#x27;t be sent from this address" in answer.text
    assert shop.sender_address is not None


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ({"countryCode": "fr"}, "en majuscules. Utilisez FR."),
        ({"countryCode": "US", "phone": "06 12 34 56 78"}, "Écrivez +33 6 12 34 56 78 s"),
        ({"phone": "32 471-12-34-56"}, "Écrivez un + devant l"),
        ({"city": "☃"}, "a pas de texte que alpha puisse imprimer."),
        ({"address1": "x" * 100}, "address1\u00a0: ne tient pas dans 2 lignes de 38 caractères."),
        ({"lastName": "Long" * 9}, "caractères que beta imprime."),
        ({"city": "漢"}, "seules les lettres latines peuvent être imprimées."),
    ],
)
def test_a_french_page_says_in_french_what_is_wrong(shop: Shop, address: dict[str, str], says: str) -> None:
    staff = logged_in(*PERMISSIONS, name="claire")
    staff.defaults |= {"HTTP_ACCEPT_LANGUAGE": "fr"}
    assert says in html.unescape(save(staff, shop, **SENDER | {"phone": ""} | address).text)


def test_who_may_only_look_sees_the_address(shop: Shop) -> None:
    Shop.objects.update(sender_address=SENDER)
    page = logged_in("view_shop", name="viewer").get(f"/admin/shops/shop/{shop.id}/change/").text
    assert "3 rue de l&#x27;Église" in page
    assert 'name="sender_city"' not in page
