"""The admin's list of parcels: search, filters, and their cost."""

import re
from datetime import date

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from unfold.templatetags import unfold_list  # type: ignore[import-untyped]  # it ships no types

from parcels.admin.search import SEARCH
from parcels.models import Parcel
from shops.models import Shop
from shops.staff import base, exports
from shops.staff.days import start_of
from tests.parcels.admin.pages import DAY_MS, NOON_MS, PARCELS, listed
from tests.support.api import query_count
from tests.support.cases import in_one_test
from tests.support.desk import csv_rows
from tests.support.factories import (
    DestinationFactory,
    EventFactory,
    ParcelLineFactory,
    ShopFactory,
    import_lines,
    import_parcel,
    promise,
)
from tests.support.sql import execute, use_indexes, value

PERMISSIONS = ("view_parcel", "view_personal_data")


def test_one_box_finds_by_number_order_email_and_id(staff: Client, shop: Shop) -> None:
    import_parcel(
        shop,
        id="P1",
        trackingId="XU1FR",
        trackingNumbers=["XU1FR", "XU2FR"],
        orderNumber="#1000",
        customerEmail="zoe@example.com",
    )
    import_parcel(shop, id="P2", orderNumber="#10000", customerEmail="other.zoe@example.com")
    numbers = ("XU1FR", "XU2FR", "xu2fr", "  XU1FR\t", "xu 1 fr")  # the first is the primary one
    for text in (*numbers, "#1000", "1000", "Zoe@Example.com", "zoe@example.com", "ZOE@EXAMPLE.COM", "P1"):
        assert listed(staff, q=text) == ["P1"], text


@pytest.mark.parametrize("column", ["id", "orderId", "orderNumber"])
@pytest.mark.parametrize("stored", ["gid://Shopify/Order/4711", "Web_77a", "#Été 7b"])
def test_a_key_in_capital_and_small_letters_is_found_in_any_case(
    staff: Client, shop: Shop, column: str, stored: str
) -> None:
    key = import_parcel(shop, **{column: stored})["id"]
    import_parcel(shop, **{column: stored + "x"})
    ascii_upper = "".join(letter.upper() if letter.isascii() else letter for letter in stored)
    for text in (stored, ascii_upper, ascii_upper.replace("A", "a"), stored.replace(stored[4], stored[4].swapcase())):
        assert listed(staff, q=text) == [key]


def test_a_long_place_is_cut_on_the_list(staff: Client, shop: Shop) -> None:
    import_parcel(shop, destination=DestinationFactory(city="N" * 255, country="France"))
    text = staff.get(PARCELS).text
    assert "N" * 59 + "…" in text
    assert "N" * 60 not in text


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


@in_one_test("text", ["100%", "_", "'; --", "x" * 10_000, "\u202e", "🦉", '"', "\\"])
def test_any_text_can_be_searched_for(staff: Client, shop: Shop, text: str) -> None:
    import_parcel(shop)
    assert not staff.get(PARCELS, {"q": text}).context["cl"].result_list


def test_a_search_uses_the_indexes(staff: Client, shop: Shop) -> None:
    import_parcel(shop, orderNumber="#1000")
    with CaptureQueriesContext(connection) as captured:
        staff.get(PARCELS, {"q": "1000"})
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


def test_a_day_begins_and_ends_at_midnight_in_paris(staff: Client, shop: Shop) -> None:
    midnight_ms = int(start_of(date(2026, 9, 23)).timestamp() * 1000)
    for number, created_at_ms in enumerate(
        [midnight_ms - 1, midnight_ms, midnight_ms + DAY_MS - 1, midnight_ms + DAY_MS]
    ):
        import_parcel(shop, id=f"P{number}", createdAt=created_at_ms)
    assert listed(staff, created_from="2026-09-23", created_to="2026-09-23") == ["P2", "P1"]


def test_the_list_shows_where_a_parcel_is(staff: Client, shop: Shop) -> None:
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
    assert "23 Sep 2026, 14:00" in page


def test_the_list_and_the_page_cost_the_same_for_one_parcel_and_for_a_full_page(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P0", orderNumber="#7")
    paths = (PARCELS, f"{PARCELS}?q=7", f"{PARCELS}P0/change/")
    for path in paths:
        staff.get(path)  # fills caches that outlive a request
    costs = [query_count(staff, path) for path in paths]
    for number in range(1, 25):
        import_parcel(ShopFactory(), id=f"P{number}", orderNumber="#7", events=[EventFactory() for _ in range(20)])
    assert len(listed(staff, q="7")) == 25
    assert [query_count(staff, path) for path in paths] == costs
    assert costs[0] <= 8


def test_the_list_reads_no_histories(staff: Client, shop: Shop) -> None:
    import_parcel(shop)
    with CaptureQueriesContext(connection) as captured:
        staff.get(PARCELS)
    assert not [query for query in captured if '"events"' in query["sql"]]


def test_the_list_counts_rows_only_to_its_cap(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LISTED_AT_MOST", 3)
    for number in range(5):
        import_parcel(shop, id=f"P{number}")
    with CaptureQueriesContext(connection) as captured:
        answer = staff.get(PARCELS)
    counts = [query["sql"] for query in captured if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT 4" in sql for sql in counts)
    assert "there are more" in answer.text


ODD_CARRIERS = ["alpha", "beta", "gamma"]


@pytest.mark.real_services
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"status": "EXCEPTION"}, "parcel_status"),
        ({"status": "none"}, "parcel_status"),
        ({"carrier": "gamma"}, "parcel_other_carrier|parcel_carrier_status"),
        ({"carrier": "alpha", "status": "EXCEPTION"}, "parcel_carrier_status"),
        ({"delivery": "late"}, "parcel_timing"),
    ],
)
def test_a_filter_reads_its_index(staff: Client, shop: Shop, query: dict[str, str], index: str) -> None:
    usual = [{"carrierCode": carrier, "lastStatus": "DELIVERED"} for carrier in ("alpha", "beta") * 100]
    odd = [{"carrierCode": carrier, "lastStatus": status} for carrier in ODD_CARRIERS for status in (None, "EXCEPTION")]
    import_lines(shop, [orjson.dumps(ParcelLineFactory(**fields)) for fields in usual + odd])
    execute("ANALYZE parcels_parcel")
    use_indexes()
    with CaptureQueriesContext(connection) as captured:
        listed(staff, **query)
    (count,) = [asked["sql"] for asked in captured if 'COUNT(*) FROM (SELECT "parcels_parcel"' in asked["sql"]]
    assert re.search(index, str(execute(f"EXPLAIN {count}")))


@pytest.mark.real_services
def test_parcels_without_news_are_found_by_their_numbers_and_each_is_read_once(staff: Client, shop: Shop) -> None:
    import_lines(shop, map(orjson.dumps, ParcelLineFactory.build_batch(100)))
    execute("ANALYZE parcels_parcel, parcels_parcelnumber")
    use_indexes()
    with CaptureQueriesContext(connection) as captured:
        listed(staff, silent=3)
    (count,) = [asked["sql"] for asked in captured if 'COUNT(*) FROM (SELECT "parcels_parcel"' in asked["sql"]]
    plan = str(execute(f"EXPLAIN {count}"))
    assert "number_newest_event" in plan
    assert plan.count(" on parcels_parcel ") == 1


@pytest.mark.real_services
def test_a_search_in_another_case_reads_its_indexes(staff: Client, shop: Shop) -> None:
    import_lines(shop, map(orjson.dumps, ParcelLineFactory.build_batch(100)))
    execute("ANALYZE parcels_parcel, parcels_parcelnumber")  # theirs choose the index, not those of an earlier test
    use_indexes()
    plan = SEARCH.whole("web_77a").explain()
    for index in ("parcel_order_number_cases", "parcel_order_cases", "parcel_id_cases"):
        assert index in plan


@pytest.mark.real_services
def test_few_rows_are_sorted_and_not_looked_for_in_the_order_of_all(staff: Client, shop: Shop) -> None:
    made = [
        import_parcel(shop, carrierCode="alpha", lastStatus="EXCEPTION", createdAt=NOON_MS + number)["id"]
        for number in range(3)
    ]
    newer = ParcelLineFactory.build_batch(100, carrierCode="beta", lastStatus="DELIVERED", createdAt=NOON_MS + 3)
    import_lines(shop, map(orjson.dumps, newer))
    execute("ANALYZE parcels_parcel")
    use_indexes()
    few = {"carrier": "alpha", "status": "EXCEPTION"}
    rows = staff.get(PARCELS, few).context["cl"].result_list
    assert [row.pk for row in rows] == made[::-1]
    assert "parcel_newest" not in rows.explain()
    rows = staff.get(PARCELS, few | {"o": "7"}).context["cl"].result_list
    assert [row.pk for row in rows] == made


def test_of_the_parcels_past_their_promise_the_last_comes_first(staff: Client, shop: Shop) -> None:
    for number, end in enumerate((3, 1, 2)):
        import_parcel(
            shop, id=f"P{number}", createdAt=NOON_MS + number, estimatedDeliveryDateWindow=promise(NOON_MS + end)
        )
    assert listed(staff, delivery="overdue") == ["P0", "P2", "P1"]
    assert listed(staff, delivery="overdue", o="7") == ["P0", "P1", "P2"]


PERIODS = {"delivered": "delivery_date", "handed_in": "handed_in_at"}


@pytest.mark.parametrize("period", PERIODS)
def test_of_a_period_of_deliveries_or_hand_ins_the_last_comes_first(staff: Client, shop: Shop, period: str) -> None:
    for number, time in enumerate((3, 1, 2)):
        import_parcel(shop, id=f"P{number}", createdAt=NOON_MS + number)
        Parcel.objects.filter(pk=f"P{number}").update(**{PERIODS[period]: NOON_MS + time})
    days = {f"{period}_from": "2026-09-23", f"{period}_to": "2026-09-23"}
    assert listed(staff, **days) == ["P0", "P2", "P1"]
    assert listed(staff, **days, o="7") == ["P0", "P1", "P2"]
    endless = days | {f"{period}_to": ""}
    assert listed(staff, **endless) == ["P0", "P2", "P1"]
    for others in (dict.fromkeys(days, ""), days | {f"{period}_from": ""}, endless | {"shop__id__exact": shop.id}):
        assert listed(staff, **others) == ["P2", "P1", "P0"]


@pytest.mark.parametrize("period", PERIODS)
def test_a_file_of_a_period_has_all_its_rows_in_the_lists_order(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch, period: str
) -> None:
    monkeypatch.setattr(exports, "PAGE_SIZE", 2)
    for number, time in enumerate((3, 1, 2, 2, 2, 3)):
        import_parcel(shop, id=f"P{number}", createdAt=NOON_MS + number)
        Parcel.objects.filter(pk=f"P{number}").update(**{PERIODS[period]: NOON_MS + time})
    days = {f"{period}_from": "2026-09-23", f"{period}_to": "2026-09-23"}
    shown = listed(staff, **days)
    assert shown == ["P5", "P0", "P4", "P3", "P2", "P1"]
    assert [row["Parcel"] for row in csv_rows(staff.get(f"{PARCELS}export.csv", days))] == shown
    assert len(csv_rows(staff.get(f"{PARCELS}export.csv", days | {"o": "7", "created_from": "2026-09-23"}))) == 6


@pytest.mark.real_services
@pytest.mark.parametrize(("period", "index"), [("delivered", "parcel_delivered"), ("handed_in", "parcel_handed_in")])
def test_a_past_period_with_many_parcels_is_listed_along_its_index_not_through_all_newer_ones(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch, period: str, index: str
) -> None:
    monkeypatch.setattr(base, "LISTED_AT_MOST", 3)
    import_lines(shop, map(orjson.dumps, ParcelLineFactory.build_batch(200, createdAt=NOON_MS)))
    import_lines(shop, map(orjson.dumps, ParcelLineFactory.build_batch(100, createdAt=NOON_MS - 60 * DAY_MS)))
    Parcel.objects.filter(created_at__lt=NOON_MS).update(**{PERIODS[period]: NOON_MS - 50 * DAY_MS})
    execute("ANALYZE parcels_parcel")
    use_indexes(sort=False)
    days = {f"{period}_from": "2026-08-01", f"{period}_to": "2026-08-31"}
    plan = staff.get(PARCELS, days).context["cl"].result_list.explain()
    assert index in plan
    assert "parcel_newest" not in plan


def test_an_empty_list_is_looked_for_once(staff: Client, shop: Shop) -> None:
    import_parcel(shop)
    with CaptureQueriesContext(connection) as captured:
        assert not staff.get(PARCELS, {"delivery": "late"}).context["cl"].result_list
    assert len([asked for asked in captured if "maximumDeliveryDate" in asked["sql"]]) == 1


@pytest.mark.real_services
def test_a_filter_is_planned_for_its_values_however_often_it_is_used(staff: Client, shop: Shop) -> None:
    for _ in range(3):
        listed(staff, status="EXCEPTION")
    assert value("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%SELECT COUNT(*) FROM (%'") == 0


def test_a_lists_headers_are_made_once_not_for_each_row(staff: Client, shop: Shop) -> None:
    import_parcel(shop)
    shown = staff.get(PARCELS).context["cl"]
    assert unfold_list.result_headers(shown) is unfold_list.result_headers(shown)


def test_each_cell_names_its_column_for_phones_which_show_no_headers(staff: Client, shop: Shop) -> None:
    import_parcel(shop)
    names = dict(re.findall(r'<t[dh] class="field-(\w+)[^>]* data-label="([^"]+)"', staff.get(PARCELS).text))
    assert {name.lower().replace(" ", "_") for name in names.values()} >= {"status", "destination", "last_update"}
    assert len(names) == len(re.findall(r'<t[dh] class="field-', staff.get(PARCELS).text))
