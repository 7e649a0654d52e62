"""A shop's page for whoever answers the shop."""

import re
from datetime import timedelta
from html import unescape
from itertools import pairwise

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from shops.admin import shop_overview
from shops.models import Shop
from shops.staff.days import day_of, start_of
from shops.webhooks.models import WebhookEndpoint
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.api import caller, logged_in, query_count
from tests.support.desk import listed
from tests.support.factories import ShopFactory, import_parcel

VIEWS = ("view_shop", "view_accesstoken", "view_carriercontract", "view_webhookendpoint", "view_parcel")
PERMISSIONS = (*VIEWS, "view_shippinglabel")
PAGE = "/admin/shops/shop/lumiere/change/"
pytestmark = pytest.mark.django_db


def test_the_page_shows_what_support_needs(staff: Client, shop: Shop, settings: Settings) -> None:
    settings.RATE_LIMIT = (100, 86_400)  # a minute may end between two pages
    contract = ContractFactory(shop=shop, carrier_code="beta")
    contract.refuse_tracking()
    WebhookEndpoint.objects.create(shop=shop, url="https://shop.example/hook", failing_since=contract.updated_at)
    LabelFactory(shop=shop, state="failed")
    LabelFactory(shop=shop, state="failed", days_ago=8)
    caller(shop).look_up("absent")
    page = staff.get(PAGE).text
    for text in (
        "1 of 100",
        "credentials refused",
        "https://shop.example/hook",
        "failing",
        "Labels of the last 7 days",
    ):
        assert text in page
    assert f"/admin/labels/shippinglabel/?shop__id__exact={shop.pk}&amp;created_from=" in page
    assert "state=failed" in page
    assert staff.get(PAGE).text.count("1 of 100") == 1  # looking counts nothing


def test_each_count_of_the_week_is_that_of_its_list(staff: Client, shop: Shop) -> None:
    now = timezone.now()
    midnight = start_of(day_of(now))
    for days in (0, 5.9, 6, 6.01, 6.5, 7, 7.5):
        for status in (None, "IN_TRANSIT"):
            at = midnight - timedelta(days=days)
            import_parcel(shop, lastStatus=status, createdAt=int(at.timestamp() * 1000))
        LabelFactory(shop=shop, created_at=midnight - timedelta(days=days))
    rows = re.findall(r'<td><a href="([^"]+)">([^<]+)</a></td><td>(\d+)</td>', staff.get(PAGE).text)
    expected = {"Label generated": "3", "No status yet": "3", "In transit": "3"}
    assert {text: number for _, text, number in rows} == expected
    for link, text, number in rows:
        assert listed(staff, unescape(link)) == int(number), text


def test_a_panel_is_only_for_those_who_may_see_its_rows(shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="beta", account_number="804735")
    page = logged_in("view_shop", name="viewer").get(PAGE).text
    for text in ("Contracts</h2>", "Webhook endpoints</h2>", "Labels of", "Parcels of", "804735"):
        assert text not in page
    assert "Requests</h2>" in page


def test_no_heading_skips_a_level(shop: Shop) -> None:
    page = logged_in("view_shop", "view_parcel", name="bob").get(PAGE).text
    levels = [int(level) for level in re.findall("<h([1-6])", page)]
    assert len(levels) > 1
    assert all(following <= level + 1 for level, following in pairwise(levels))


def test_the_counts_are_bounded_and_say_so(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shop_overview, "COUNTED_AT_MOST", 2)
    for _ in range(3):
        LabelFactory(shop=shop)
    assert "Of the newest 2." in staff.get(PAGE).text


def test_the_page_costs_the_same_for_a_small_shop_and_a_large_one(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="beta")
    staff.get(PAGE)
    cost = query_count(staff, PAGE)
    ContractFactory(shop=shop, carrier_code="alpha")
    for number in range(10):
        LabelFactory(shop=shop)
        import_parcel(shop)
        WebhookEndpoint.objects.create(shop=shop, url=f"https://shop.example/{number}")
    assert query_count(staff, PAGE) == cost
    assert cost <= 12


def test_another_shops_rows_are_not_counted(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=ShopFactory(), state="failed")
    assert "state=failed" not in staff.get(PAGE).text


def test_a_shop_that_does_not_exist_leads_back(staff: Client) -> None:
    assert staff.get("/admin/shops/shop/nobody/change/").status_code == 302
    assert not Shop.objects.exists()
