"""The staff's view of parcels, through a browser's eyes."""

import re
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from parcels.models import Parcel, TrackingStatus
from shops.admin import base
from shops.models import Shop
from tests.support.api import client, logged_in
from tests.support.factories import DestinationFactory, EventFactory, LineItemFactory, ShopFactory, import_parcel

pytestmark = pytest.mark.django_db
PARCELS = "/admin/parcels/parcel/"
HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>{{7*7}}"""
DAY_MS = 86_400_000
NOON_MS = 1_790_164_800_000  # 23 September 2026, 12:00 UTC


@pytest.fixture
def staff() -> Client:
    return logged_in("view_parcel", "view_shop")


@pytest.fixture
def shop() -> Shop:
    return ShopFactory(name="Maison Lumière")


def listed(staff: Client, **query: Any) -> list[str]:
    """The ids of the parcels on the list's first page, in its order."""
    answer = staff.get(PARCELS, query)
    assert answer.status_code == 200
    return [parcel.pk for parcel in answer.context["cl"].result_list]


def page_of(staff: Client, parcel_id: str) -> str:
    answer = staff.get(f"{PARCELS}{parcel_id}/change/")
    assert answer.status_code == 200
    return answer.text


@pytest.mark.parametrize(
    "text",
    [
        "XU1FR",  # the primary number
        "XU2FR",  # any other
        "xu2fr",
        "  XU1FR\t",
        "xu 1 fr",
        "#1000",
        "1000",
        "Zoe@Example.com",
        "zoe@example.com",
        "ZOE@EXAMPLE.COM",
        "P1",
    ],
)
def test_one_box_finds_by_number_order_email_and_id(staff: Client, shop: Shop, text: str) -> None:
    import_parcel(
        shop,
        id="P1",
        trackingId="XU1FR",
        trackingNumbers=["XU1FR", "XU2FR"],
        orderNumber="#1000",
        customerEmail="zoe@example.com",
    )
    import_parcel(shop, id="P2", orderNumber="#10000", customerEmail="other.zoe@example.com")
    assert listed(staff, q=text) == ["P1"]


def test_an_order_number_without_a_hash_is_found_with_one(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", orderNumber="A-7")
    assert listed(staff, q="#A-7") == ["P1"]


def test_a_search_spans_shops_and_kinds_and_lists_the_newest_first(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", trackingId="77", createdAt=NOON_MS)
    import_parcel(ShopFactory(), id="P2", orderNumber="#77", createdAt=NOON_MS + 1)
    import_parcel(shop, id="77", createdAt=NOON_MS + 2)
    import_parcel(shop, id="P4", orderNumber="77", trackingId="77#", createdAt=NOON_MS + 3)
    assert listed(staff, q="77") == ["P4", "77", "P2", "P1"]
    assert listed(staff, q="77", shop__id__exact=shop.id) == ["P4", "77", "P1"]


@pytest.mark.parametrize("text", ["100%", "_", "'; --", "x" * 10_000, "\u202e", "🦉", '"', "\\"])
def test_any_text_can_be_searched_for(staff: Client, shop: Shop, text: str) -> None:
    import_parcel(shop)
    assert listed(staff, q=text) == []


def test_a_search_goes_along_the_indexes(staff: Client, shop: Shop) -> None:
    import_parcel(shop, orderNumber="#1000")
    with CaptureQueriesContext(connection) as captured:
        listed(staff, q="1000")
    searches = [query["sql"] for query in captured if "UNION ALL" in query["sql"]]
    assert len(searches) == 2  # the page and its count
    for sql in searches:
        assert "LIKE" not in sql.upper()
        assert "OUTER JOIN" not in sql.upper()


def test_the_list_is_filtered_by_shop_carrier_status_and_day(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", carrierCode="alpha", lastStatus="DELIVERED", createdAt=NOON_MS)
    import_parcel(shop, id="P2", carrierCode="beta", lastStatus="EXCEPTION", createdAt=NOON_MS + DAY_MS)
    import_parcel(ShopFactory(), id="P3", carrierCode="beta", lastStatus=None, createdAt=NOON_MS + 2 * DAY_MS)
    assert listed(staff) == ["P3", "P2", "P1"]
    assert listed(staff, shop__id__exact=shop.id) == ["P2", "P1"]
    assert listed(staff, carrier="beta") == ["P3", "P2"]
    assert listed(staff, carrier="gamma") == []
    assert listed(staff, status="DELIVERED") == ["P1"]
    assert listed(staff, status=["DELIVERED", "EXCEPTION"]) == ["P2", "P1"]
    assert listed(staff, created_from="2026-09-24") == ["P3", "P2"]
    assert listed(staff, created_to="2026-09-24") == ["P2", "P1"]
    assert listed(staff, created_from="2026-09-24", created_to="2026-09-24") == ["P2"]
    assert listed(staff, created_to="9999-12-31") == ["P3", "P2", "P1"]
    assert listed(staff, created_from="yesterday") == []


def test_a_day_begins_and_ends_at_midnight_utc(staff: Client, shop: Shop) -> None:
    midnight_ms = NOON_MS - DAY_MS // 2
    for number, created_at_ms in enumerate(
        [midnight_ms - 1, midnight_ms, midnight_ms + DAY_MS - 1, midnight_ms + DAY_MS]
    ):
        import_parcel(shop, id=f"P{number}", createdAt=created_at_ms)
    assert listed(staff, created_from="2026-09-23", created_to="2026-09-23") == ["P2", "P1"]


def test_the_list_tells_where_a_parcel_is_at_a_glance(staff: Client, shop: Shop) -> None:
    import_parcel(
        shop,
        trackingId="XU1FR",
        trackingNumbers=["XU1FR", "XU2FR"],
        orderNumber="#1000",
        lastStatus="OUT_FOR_DELIVERY",
        updatedAt=NOON_MS,
    )
    page = staff.get(PARCELS).text
    for text in ("XU1FR +1", "#1000", "Maison Lumière", "Beta Post", "Out for delivery", "Brest, France"):
        assert text in page
    assert "23 Sep 2026, 12:00 UTC" in page


def test_the_list_and_the_page_cost_the_same_for_one_parcel_and_for_fifty(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P0", orderNumber="#7")
    paths = (PARCELS, f"{PARCELS}?q=7", f"{PARCELS}P0/change/")
    for path in paths:
        staff.get(path)  # what is remembered for longer than a request
    costs = [queries(staff, path) for path in paths]
    for number in range(1, 50):
        import_parcel(ShopFactory(), id=f"P{number}", orderNumber="#7", events=[EventFactory() for _ in range(20)])
    assert len(listed(staff, q="7")) == 50
    assert [queries(staff, path) for path in paths] == costs
    assert costs[0] <= 8


def test_the_list_reads_no_histories(staff: Client, shop: Shop) -> None:
    import_parcel(shop)
    with CaptureQueriesContext(connection) as captured:
        listed(staff)
    assert not [query for query in captured if '"events"' in query["sql"]]


def test_the_list_counts_no_further_than_it_pages(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LISTED_AT_MOST", 3)
    for number in range(5):
        import_parcel(shop, id=f"P{number}")
    with CaptureQueriesContext(connection) as captured:
        answer = staff.get(PARCELS)
    counts = [query["sql"] for query in captured if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT 4" in sql for sql in counts)
    assert "there are more" in answer.text


def test_the_page_tells_the_whole_story(staff: Client, shop: Shop) -> None:
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
        "24 Sep 2026, 12:00 UTC",
        f"{NOON_MS} ms",
        "B99",
        "XU1FR",
        "XU2FR",
        "18 impasse des Œillets",
        "29200 Brest",
    ):
        assert text in page
    assert "2 &times; 9.95" in page
    internal = page[page.index("Internal: never in an answer of the API") :]
    for text in ("zoe@example.com", "before@example.com", "Joyeux anniversaire", "fr-FR", "noel-2026", "prod_cross"):
        assert text in internal
        assert text == "zoe@example.com" or text not in page[: -len(internal)]


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


def test_a_status_has_a_colour_in_the_list_and_on_the_page(staff: Client, shop: Shop) -> None:
    for status in TrackingStatus:
        import_parcel(shop, id=status, lastStatus=status, events=[EventFactory(status=status)])
    label = re.compile(r'<span class="[^"]*text-(\w+)-700[^"]*"\s+title="([^"]*)">\s*Delivered')
    assert label.findall(staff.get(PARCELS).text) == [("green", "Delivered")]
    assert label.findall(page_of(staff, "DELIVERED")) == [("green", "Delivered")] * 2


def test_a_parcel_cannot_be_made_changed_or_deleted_even_by_a_superuser(shop: Shop) -> None:
    root = logged_in(is_superuser=True)
    import_parcel(shop, id="P1", orderNumber="#1000")
    for path in ("add/", "P1/change/", "P1/delete/"):
        assert root.post(PARCELS + path, {"order_number": "#2000", "post": "yes"}).status_code == 403
    root.post(PARCELS, {"action": "delete_selected", "_selected_action": "P1", "post": "yes"})
    assert Parcel.objects.get().order_number == "#1000"
    page = page_of(root, "P1")
    assert 'name="_save"' not in page
    assert "/delete/" not in page


def test_parcels_are_for_those_who_may_see_them(shop: Shop) -> None:
    import_parcel(shop, id="P1")
    other = logged_in("view_shop")
    assert other.get(PARCELS).status_code == 403
    assert other.get(f"{PARCELS}P1/change/").status_code == 403
    assert "Where is the parcel?" not in other.get("/admin/").text
    assert client().get(PARCELS).headers["Location"].startswith("/admin/login/")


def test_the_first_page_asks_where_the_parcel_is(staff: Client) -> None:
    page = staff.get("/admin/").text
    assert "Where is the parcel?" in page
    assert f'action="{PARCELS}"' in page


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
    "url", ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "//evil.example/x.png", " http://x", ""]
)
def test_a_picture_comes_from_the_web_or_not_at_all(staff: Client, shop: Shop, url: str) -> None:
    import_parcel(shop, id="P1")
    Parcel.objects.update(line_items=[LineItemFactory(imageUrl=url)])  # past the importer, which refuses it
    page = page_of(staff, "P1")
    assert '<span class="parcel-picture"></span>' in page


def test_a_picture_is_asked_for_without_telling_where_from(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", lineItems=[LineItemFactory(imageUrl="https://cdn.example.com/a.jpg?b=1&c=2")])
    (picture,) = re.findall(r'<img src="https[^>]*>', page_of(staff, "P1"))
    assert 'src="https://cdn.example.com/a.jpg?b=1&amp;c=2"' in picture
    assert 'referrerpolicy="no-referrer"' in picture
    assert 'loading="lazy"' in picture


def test_no_page_loads_anything_else_from_elsewhere(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", lineItems=[])
    for path in ("/admin/", PARCELS, f"{PARCELS}P1/change/"):
        page = staff.get(path).text
        sources = re.findall(r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="([^"]*)"', page)
        assert sources
        assert all(source.startswith("/") and not source.startswith("//") for source in sources)
        for source in sources:
            assert source == "/admin/jsi18n/" or finders.find(source.removeprefix("/static/")), source


def queries(staff: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert staff.get(path).status_code == 200
    return len(captured)
