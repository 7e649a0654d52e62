"""The page that exports and erases a shop's customer: the command's words and deeds, to those who may."""

import re

import pytest
from django.test import Client

from labels.models import ShippingLabel
from parcels.models import Parcel
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.audit.recording import customer_digests
from tests.config.test_roles import WHO
from tests.labels.factories import LabelFactory
from tests.shops.commands import call
from tests.support.api import logged_in
from tests.support.desk import FRENCH, member
from tests.support.factories import ShopFactory, import_parcel
from tests.support.sql import held

PAGE = "/admin/customer/"
EMAIL = "zoe@example.com"
pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def shop() -> Shop:
    shop: Shop = ShopFactory(id="lumiere")
    import_parcel(shop, id="P1", customerEmail=EMAIL, orderId="7")
    import_parcel(shop, id="P2", customerEmail="other@example.com", orderId="8")
    LabelFactory(shop=shop, order_id="7")
    return shop


def post(browser: Client, **fields: str) -> str:
    return browser.post(PAGE, {"shop_id": "lumiere", "email": EMAIL, **fields}, follow=True).getvalue().decode()


def dry_run() -> list[str]:
    return call("erase_customer", "lumiere", EMAIL, "--dry-run")[0].splitlines()


@pytest.mark.parametrize("who", WHO)
def test_the_page_is_for_those_who_see_customers(who: str) -> None:
    assert member(who).get(PAGE).status_code == (200 if who in {"Support", "root"} else 403)


def test_in_french_what_is_found_is_counted_in_french(shop: Shop) -> None:
    answer = member("root").post(PAGE, {"shop_id": "lumiere", "email": EMAIL}, headers=FRENCH)
    assert re.findall("<code>(.*?)</code>", answer.text) == ["1 colis", "1 étiquette", "1 PDF"]


def test_a_customer_is_erased_with_the_commands_words_before_and_after(shop: Shop) -> None:
    support, words = member("Support"), dry_run()
    page = post(support)
    assert words[:2] == ["1 parcel", "1 label"]
    assert all(f"<code>{line}</code>" in page for line in words)
    assert Parcel.objects.filter(customer_email=EMAIL).exists(), "nothing is done before it is confirmed"
    search = AuditEntry.objects.get(action=Action.SEARCHED, actor="support")
    assert search.details["hits"] == 2
    assert search.customer in customer_digests(EMAIL)
    assert f"Erased: {', '.join(words)}." in post(support, erase="")
    assert list(Parcel.objects.exclude(customer_email=None).values_list("pk", flat=True)) == ["P2"]
    assert "" in {label.recipient["lastName"] for label in ShippingLabel.objects.all()}
    assert dry_run()[:1] == ["0 parcels"]
    entry = AuditEntry.objects.get(action=Action.REMOVED)
    assert (entry.actor, entry.shop_id, entry.details["parcels"]) == ("support", "lumiere", 1)


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_whoever_erases_while_an_import_runs_for_long_is_told_so(shop: Shop) -> None:
    support = member("Support")
    with held("SELECT pg_advisory_xact_lock(hashtextextended('imports of lumiere', 0))"):
        page = post(support, erase="")
    assert "It is held by another process, such as an import. Try again later." in page
    assert Parcel.objects.filter(customer_email=EMAIL).exists()
    assert "Erased: " in post(support, erase="")


def test_who_may_not_change_labels_erases_nobody(shop: Shop) -> None:
    viewer = logged_in("view_personal_data", "view_parcel", "view_shippinglabel")
    assert 'name="erase"' not in post(viewer)
    assert viewer.post(PAGE, {"shop_id": "lumiere", "email": EMAIL, "erase": ""}).status_code == 403
    assert Parcel.objects.filter(customer_email=EMAIL).exists()


def test_a_customer_is_exported_as_the_command_does_it(shop: Shop) -> None:
    told, _ = call("export_customer", "lumiere", EMAIL)
    assert post(member("Support"), export="") == told.rstrip("\n")
    entries = AuditEntry.objects.filter(action=Action.EXPORTED, details__contains="customer")
    assert entries.count() == 2
    for row in (Parcel.objects.get(customer_email=EMAIL), ShippingLabel.objects.get()):
        assert entries.filter(search_words__has=row.pk).count() == 2, "whoever saw this row is found by its id"


def test_what_is_wrong_is_said_as_the_command_says_it(shop: Shop) -> None:
    assert "there is no shop &#x27;x&#x27;" in post(member("Support"), shop_id="x")
    label = LabelFactory(shop=shop, order_id="7", state="unknown")
    assert f"settle or decide these labels first: {label.pk}" in post(member("root"), erase="")
    assert Parcel.objects.filter(customer_email=EMAIL).exists()


def test_in_french_the_page_speaks_of_the_shop_and_not_of_an_argument() -> None:
    answer = member("Support").post(PAGE, {"shop_id": "x", "email": EMAIL}, headers=FRENCH)
    assert "Il n\u2019y a pas de boutique «\u00a0x\u00a0»." in answer.text
    assert "SHOP_ID" not in answer.text


def test_an_open_label_holds_up_the_erasure_and_not_the_export(shop: Shop) -> None:
    label = LabelFactory(shop=shop, order_id="7", state="unknown")
    support = member("Support")
    page = post(support)
    assert f"settle or decide these labels first: {label.pk}" in page
    assert ('name="export"' in page, 'name="erase"' in page) == (True, False)
    told, _ = call("export_customer", "lumiere", EMAIL)
    assert post(support, export="") == told.rstrip("\n")
