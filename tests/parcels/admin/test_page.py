"""The admin's page of a parcel: complete, read-only, and safe from hostile values."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from pytest_django.fixtures import Settings

from parcels.models import Parcel, TrackingStatus
from parcels.serializers import MAX_TIME_MS
from shops.models import Shop
from shops.personal_data import MASKED
from tests.parcels.admin.pages import DAY_MS, NOON_MS, PARCELS, listed, page_of
from tests.support.api import logged_in
from tests.support.factories import (
    DestinationFactory,
    EventFactory,
    LineItemFactory,
    ShopFactory,
    import_parcel,
    promise,
)

PERMISSIONS = ("view_parcel", "view_personal_data")
HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>{{7*7}}"""


def test_the_page_shows_the_whole_parcel(staff: Client, shop: Shop) -> None:
    events = [
        EventFactory(status="IN_TRANSIT", createdAt=NOON_MS, label="Picked up"),
        EventFactory(status="DELIVERED", createdAt=NOON_MS + DAY_MS, label="Handed over", carrierStatusCode="B99"),
    ]
    import_parcel(
        shop,
        id="P1",
        trackingNumbers=["XU1FR", "XU2FR"],
        lastStatus="DELIVERED",
        deliveryDate=NOON_MS + DAY_MS,
        events=events,
        customerEmail="zoe@example.com",
        giftConfig={"message": "Joyeux anniversaire"},
    )
    page = page_of(staff, "P1")
    assert page.index("Handed over") < page.index("Picked up")
    for text in (
        *("24 Sep 2026, 14:00", f"{NOON_MS} ms", "B99", "XU1FR", "XU2FR"),
        *("18 impasse des Œillets", "29200 Brest"),
    ):
        assert text in page
    assert "2 &times; 9.95" in page
    internal = page[page.index("Internal: never in an answer of the API") :]
    for text in ("zoe@example.com", "before@example.com", "Joyeux anniversaire", "fr-FR", "noel-2026", "prod_cross"):
        assert text in internal
        assert text == "zoe@example.com" or text not in page[: -len(internal)]


def test_the_last_second_of_the_calendar_is_shown_where_it_is_the_year_10000(staff: Client, shop: Shop) -> None:
    times = ("createdAt", "updatedAt", "lastStatusUpdatedAt", "deliveryDate", "endDepositDate")
    parcel = import_parcel(
        shop,
        **dict.fromkeys(times, MAX_TIME_MS),
        estimatedDeliveryDateWindow=promise(MAX_TIME_MS),
        carrierLastStatus={"code": "B1", "description": "delivered", "date": MAX_TIME_MS},
        events=[EventFactory(createdAt=MAX_TIME_MS)],
    )
    assert f"{MAX_TIME_MS} ms" in page_of(staff, parcel["id"])
    for path in (PARCELS, f"{PARCELS}{parcel['id']}/claim/", f"/admin/search/?q={parcel['orderNumber'][1:]}"):
        assert staff.get(path, follow=True).status_code == 200
    answer: Any = staff.get(f"{PARCELS}export.xlsx")
    assert b"".join(answer.streaming_content).startswith(b"PK")


def test_who_may_not_see_customers_sees_no_event_of_no_carrier_and_no_link_to_a_search_for_dots(shop: Shop) -> None:
    import_parcel(shop, id="P1", events=[EventFactory(label="Packed by Zoé", carrierStatusCode=None)])
    page = page_of(logged_in("view_parcel", name="reporter"), "P1")
    assert (MASKED in page, "Packed by" in page, quote(MASKED) in page) == (True, False, False)


def test_a_parcel_without_an_order_number_is_named_by_its_order_id(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", trackingId="XU1FR", orderNumber="", orderId="5400")
    page = page_of(staff, "P1")
    assert "XU1FR (5400)" in page
    assert 'order <a href="/admin/parcels/parcel/?q=5400">5400</a>' in page


def test_a_bare_parcel_has_a_page_too(staff: Client, shop: Shop) -> None:
    nothing = dict.fromkeys(["carrierProduct", "carrierDisplayName", "lastStatus", "lastStatusUpdatedAt"])
    nothing |= dict.fromkeys(["carrierLastStatus", "estimatedDeliveryDateWindow", "customerEmail"])
    nothing |= dict.fromkeys(["customerLocale", "giftConfig", "webTemplate"])
    empty: dict[str, Any] = {name: [] for name in ("trackingNumbers", "lineItems", "events", "previousEmails")}
    import_parcel(shop, id="P1", crossSellRecommendations=[], **nothing, **empty)
    page = page_of(staff, "P1")
    assert "None yet." in page
    assert ">None<" not in page
    assert listed(staff) == ["P1"]


@pytest.mark.parametrize("parcel_id", ["a/b", "ä ö", "1_2F", "?q=1", "#", "x" * 255, "add", '"><script>'])
def test_a_parcel_with_an_odd_id_has_a_page(staff: Client, shop: Shop, parcel_id: str) -> None:
    import_parcel(shop, id=parcel_id, trackingId="XU1FR")
    path = re.search(rf'href="({PARCELS}[^"]*/change/[^"]*)"', staff.get(PARCELS).text)
    assert path
    assert "XU1FR" in staff.get(path[1]).text


def test_nobody_can_create_change_or_delete_a_parcel_not_even_a_superuser(shop: Shop) -> None:
    root = logged_in(is_superuser=True)
    import_parcel(shop, id="P1", orderNumber="#1000")
    for path in ("add/", "P1/change/", "P1/delete/"):
        assert root.post(PARCELS + path, {"order_number": "#2000", "post": "yes"}).status_code == 403
    root.post(PARCELS, {"action": "delete_selected", "_selected_action": "P1", "post": "yes"})
    assert Parcel.objects.get().order_number == "#1000"
    page = page_of(root, "P1")
    assert 'name="_save"' not in page
    assert "/delete/" not in page


def test_no_value_of_a_parcel_becomes_markup(staff: Client) -> None:
    shop = ShopFactory(name=HOSTILE)
    text = dict.fromkeys(["firstName", "lastName", "name", "company", "address1", "address2", "city", "zip"], HOSTILE)
    text |= dict.fromkeys(["province", "provinceCode", "country"], HOSTILE)
    item = dict.fromkeys(["name", "lineItemId", "sku", "productId"], HOSTILE) | {"metadata": {HOSTILE: HOSTILE}}
    status = {"code": HOSTILE, "description": HOSTILE, "date": NOON_MS}
    top = dict.fromkeys(["orderId", "orderNumber", "trackingId", "carrierProduct", "customerEmail"], HOSTILE)
    top |= dict.fromkeys(["customerLocale", "webTemplate", "carrierDisplayName"], HOSTILE[:64])
    parts: dict[str, Any] = {
        "trackingNumbers": [HOSTILE, HOSTILE + "2"],
        "destination": DestinationFactory(**text),
        "lineItems": [LineItemFactory(**item)],
        "events": [EventFactory(label=HOSTILE, carrierStatusCode=HOSTILE)],
        "carrierLastStatus": status,
        "previousEmails": [HOSTILE],
        "giftConfig": {"message": HOSTILE},
        "crossSellRecommendations": [HOSTILE],
    }
    import_parcel(shop, id="P1", carrierCode=HOSTILE[:64], **top, **parts)
    for page in (staff.get(PARCELS).text, page_of(staff, "P1"), staff.get(PARCELS, {"q": HOSTILE}).text):
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "49" not in re.findall(r"onerror=&#x27;alert\(2\)&#x27;&gt;(.{2})", page)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "//cdn.example.com/x.png",
            " http://x",
            "",
        ),
        *("http://cdn.example.com/a", "https://cdn.example.com.evil.example/", "https://cdn.example.com@evil.example/"),
        *("https://cdn.example.com:8443/a", "https://evil.example/https://cdn.example.com/"),
    ],
)
def test_a_picture_comes_from_a_listed_host_only(staff: Client, shop: Shop, url: str, settings: Settings) -> None:
    settings.ADMIN_PICTURE_HOSTS = ["cdn.example.com"]
    import_parcel(shop, id="P1")
    Parcel.objects.update(line_items=[LineItemFactory(imageUrl=url)])  # the importer would refuse it
    page = page_of(staff, "P1")
    assert '<span class="parcel-picture"></span>' in page


def test_a_picture_is_loaded_lazily_and_without_a_referrer(staff: Client, shop: Shop, settings: Settings) -> None:
    import_parcel(shop, id="P1", lineItems=[LineItemFactory(imageUrl="https://cdn.example.com/a.jpg?b=1&c=2")])
    assert "cdn.example.com/a.jpg" not in page_of(staff, "P1")
    settings.ADMIN_PICTURE_HOSTS = ["cdn.example.com"]
    (picture,) = re.findall(r'<img src="https[^>]*>', page_of(staff, "P1"))
    assert 'src="https://cdn.example.com/a.jpg?b=1&amp;c=2"' in picture
    assert 'referrerpolicy="no-referrer"' in picture
    assert 'loading="lazy"' in picture


def test_no_page_loads_anything_else_from_another_host(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", lineItems=[])
    for path in ("/admin/", PARCELS, f"{PARCELS}P1/change/"):
        page = staff.get(path).text
        sources = re.findall(r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="([^"]*)"', page)
        assert sources
        assert all(source.startswith("/") and not source.startswith("//") for source in sources)
        for source in sources:
            assert source == "/admin/jsi18n/" or finders.find(source.removeprefix("/static/")), source


def test_a_status_has_a_colour_in_the_list_and_on_the_page(staff: Client, shop: Shop) -> None:
    for status in TrackingStatus:
        import_parcel(shop, id=status, lastStatus=status, events=[EventFactory(status=status)])
    label = re.compile(r'<span class="[^"]*text-(\w+)-700[^"]*"\s+title="([^"]*)">\s*Delivered')
    assert label.findall(staff.get(PARCELS).text) == [("green", "Delivered")]
    assert label.findall(page_of(staff, "DELIVERED")) == [("green", "Delivered")] * 2
