"""The staff's list of labels: found, filtered and counted along indexes."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labels.models import LabelState, ShippingLabel, lease
from labels.templatetags import label_page as states
from shops.models import Shop
from shops.personal_data import MASKED
from shops.staff import base, filters
from tests.labels.admin.pages import CONTRACTS, LABELS, NOON, listed, page_of
from tests.labels.factories import ContractFactory, LabelFactory, publish
from tests.labels.orders import RECIPIENT
from tests.support.api import logged_in, query_count
from tests.support.cases import in_one_test
from tests.support.desk import FRENCH
from tests.support.factories import AccessTokenFactory, ShopFactory
from tests.support.sql import execute, use_indexes

PERMISSIONS = ("view_shippinglabel", "view_carriercontract", "view_personal_data")


def test_the_list_shows_every_attempt_the_newest_first(staff: Client, shop: Shop) -> None:
    token = AccessTokenFactory(shop=shop, name="checkout")
    LabelFactory(shop=shop, state="failed", order_id="1", id="0" * 15)
    LabelFactory(
        shop=shop,
        order_id="2",
        id="0" * 14 + "1",
        tracking_numbers=["6A1", "6A2"],
        token_id=token.id,
        created_at=NOON,
        carrier_code="alpha",
        product_code="alpha-18",
    )
    assert listed(staff) == ["2", "1"]
    page = staff.get(LABELS).text
    for text in ("0" * 14 + "1", "Maison Lumière", "alpha · alpha-18", "6A1 +1", "checkout", "23 Sep 2026, 14:00"):
        assert text in page
    assert token.id in page


def test_a_state_has_a_colour_and_says_what_it_means(staff: Client, shop: Shop) -> None:
    for state in LabelState:
        LabelFactory(shop=shop, state=state, order_id=state)
    page = staff.get(LABELS).text
    found = re.findall(r'<span class="[^"]*text-(\w+)-700[^"]*"\s+title="([^"]+)">\s*([\w ]+?)\s*</span>', page)
    assert {name: colour for colour, _, name in found} == {
        "Interrupted": "blue",
        "Received": "primary",
        "Label generated": "green",
        "Failed": "red",
        "Incomplete": "orange",
        "Unknown": "orange",
        "Cancelling": "orange",
        "Cancel unknown": "orange",
        "Cancelled": "red",
    }
    for label in ShippingLabel.objects.all():
        assert states.state_meaning(label) in page_of(staff, label).replace("&#x27;", "'")


def test_a_purchase_is_interrupted_when_its_lease_has_ended(shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="purchasing")
    assert states.state_name(label) == "Interrupted"
    label.leased_until = lease()
    assert states.state_name(label) == "Purchasing"


@pytest.mark.parametrize(
    "text", ["0RCABCDEFGHIJKL", "0rcabcdefghijkl", "6A1111", "6a2222", " 6A 22 22\t", "cmd-7", "CMD-7", "Cmd-7"]
)
def test_one_box_finds_by_id_tracking_number_and_order(staff: Client, shop: Shop, text: str) -> None:
    LabelFactory(shop=shop, id="0RCABCDEFGHIJKL", order_id="Cmd-7", tracking_numbers=["6A1111", "6A2222"])
    LabelFactory(shop=ShopFactory(), order_id="cmd-70", tracking_numbers=["6A11112"])
    assert listed(staff, q=text) == ["Cmd-7"]


@in_one_test("text", ["100%", "_", "'; --", "x" * 60_000, "\u202e", "🦉", '"', "\\", "[]", '["6A1111"]'])
def test_any_text_can_be_searched_for(staff: Client, shop: Shop, text: str) -> None:
    LabelFactory(shop=shop, tracking_numbers=["6A1111"])
    assert not staff.get(LABELS, {"q": text}).context["cl"].result_list


@pytest.mark.real_services
def test_a_tracking_number_is_found_along_the_index(shop: Shop) -> None:
    use_indexes()
    plan = ShippingLabel.objects.order_by().with_tracking_number("6A1111", "6a1111").explain()
    assert plan.count("label_tracking_numbers") == 2


def test_a_search_compares_exactly(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, order_id="5400000001")
    with CaptureQueriesContext(connection) as captured:
        staff.get(LABELS, {"q": "5400000001"})
    searches = [query["sql"] for query in captured if "UNION ALL" in query["sql"]]
    assert len(searches) == 2  # the page and its count
    assert not [sql for sql in searches if "OUTER JOIN" in sql]


def test_the_list_is_filtered_by_shop_carrier_product_state_and_day(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, order_id="1", carrier_code="alpha", product_code="alpha-18", created_at=NOON)
    LabelFactory(shop=shop, state="unknown", order_id="2", created_at=NOON + timedelta(days=1))
    LabelFactory(shop=ShopFactory(), state="incomplete", order_id="3", created_at=NOON + timedelta(days=2))
    LabelFactory(shop=shop, state="failed", order_id="4", created_at=NOON + timedelta(days=3), decided_at=NOON)
    assert sorted(listed(staff, shop__id__exact=shop.id)) == ["1", "2", "4"]
    assert listed(staff, carrier="alpha") == listed(staff, product="alpha-18") == ["1"]
    assert listed(staff, carrier="gamma") == listed(staff, product="gamma") == []
    assert sorted(listed(staff, state=["failed", "unknown"])) == ["2", "4"]
    assert sorted(listed(staff, created_from="2026-09-24", created_to="2026-09-25")) == ["2", "3"]
    assert listed(staff, created_to="2026-09-23") == ["1"]
    assert [len(listed(staff, created_to=day)) for day in ("2114-12-31", "9999-12-31")] == [4, 4]
    assert listed(staff, created_from="2114-12-31") == []
    assert listed(staff, created_from="yesterday") == []


def test_labels_of_today_and_of_this_month_are_one_click_away(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = NOON.replace(day=2)
    monkeypatch.setattr(filters, "today", now.date)
    for days_ago in (0, 0.6, 1.6):
        LabelFactory(shop=shop, order_id=str(days_ago), created_at=now - timedelta(days=days_ago))
    assert listed(staff, when="today") == ["0"]
    assert listed(staff, when="month") == ["0", "0.6"]
    assert len(listed(staff, when="century")) == 3


def test_the_list_says_why_and_is_filtered_by_it(staff: Client, shop: Shop) -> None:
    facts = {"error_code": "ALPHA_ADDRESS_REJECTED", "error_message": "No such postal code."}
    LabelFactory(shop=shop, state="failed", order_id="1", **facts)
    LabelFactory(shop=shop, state="failed", order_id="2", error_code="BETA_UNAVAILABLE")
    LabelFactory(shop=shop, order_id="3", staff_notice="The customs form did not come.")
    page = staff.get(LABELS).text
    for text in ("Address rejected", "No such postal code.", "Unavailable", "The customs form did not come."):
        assert text in page
    assert listed(staff, reason="ALPHA_ADDRESS_REJECTED") == ["1"]
    assert listed(staff, reason="BETA_UNAVAILABLE") == ["2"]
    assert listed(staff, reason="ALPHA_UNAVAILABLE") == []


def test_a_reason_that_is_masked_is_worded_in_the_readers_language(shop: Shop) -> None:
    LabelFactory(shop=shop, state="failed", error_code="BETA_UNAVAILABLE", error_message="Closed, says Zoé.")
    page = logged_in("view_shippinglabel").get(LABELS, headers=FRENCH).text
    assert "beta est injoignable" in page
    assert "Zoé" not in page


def test_the_list_shows_the_weight_the_age_and_the_recipient_to_those_who_may_see_them(shop: Shop) -> None:
    LabelFactory(shop=shop, weights_kg=["1.25", "2"], days_ago=3)
    page = logged_in("view_shippinglabel", "view_personal_data").get(LABELS).text
    name = f"{RECIPIENT['firstName']} {RECIPIENT['lastName']}"
    for text in ("3.25 kg in 2 parcels", "3\xa0days ago", name, RECIPIENT["city"]):
        assert text in page
    masked = logged_in("view_shippinglabel", name="bob").get(LABELS).text
    assert MASKED in masked
    assert RECIPIENT["lastName"] not in masked


def test_the_list_and_the_page_cost_the_same_for_one_label_and_for_a_full_page(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown", order_id="7", tracking_numbers=["6A0"])
    paths = (LABELS, f"{LABELS}?q=7", f"{LABELS}{label.id}/change/", CONTRACTS)
    ContractFactory(shop=shop, carrier_code="beta")
    for path in paths:
        staff.get(path)  # what is remembered for longer than a request
    costs = [query_count(staff, path) for path in paths]
    for number in range(1, 25):
        other = ShopFactory()
        ContractFactory(shop=other, carrier_code="alpha")
        token = AccessTokenFactory(shop=other, name="checkout")
        LabelFactory(shop=other, state="received", order_id="7", token_id=token.id, tracking_numbers=[f"6A{number}"])
    assert len(listed(staff, q="7")) == 25
    assert [query_count(staff, path) for path in paths] == costs
    assert max(costs) <= 17  # a label's page reads the account and its next step; PostgreSQL is asked for the time too


def test_parcels_of_labels_cost_the_list_the_same_for_one_and_for_several(staff: Client, shop: Shop) -> None:
    publish(LabelFactory(shop=shop, tracking_numbers=["6A0"]))
    staff.get(LABELS)
    cost = query_count(staff, LABELS)
    for number in range(1, 5):
        publish(LabelFactory(shop=shop, tracking_numbers=[f"6A{number}"]))
    assert query_count(staff, LABELS) == cost


def test_the_list_reads_neither_pdfs_nor_declarations(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, state="received")
    with CaptureQueriesContext(connection) as captured:
        staff.get(LABELS)
    for name in ("pdf", "sender", "customs"):
        assert not [query for query in captured if f'"{name}"' in query["sql"]]


def test_a_page_reads_no_pdf(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="received")
    with CaptureQueriesContext(connection) as captured:
        page_of(staff, label)
    whole = re.compile(r'(?<!\()"labels_shippinglabel"\."pdf"')
    assert not [query for query in captured if whole.search(query["sql"])]


def test_the_list_counts_no_further_than_it_pages(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LISTED_AT_MOST", 3)
    for _ in range(5):
        LabelFactory(shop=shop)
    with CaptureQueriesContext(connection) as captured:
        answer = staff.get(LABELS)
    counts = [query["sql"] for query in captured if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT" in sql for sql in counts)
    assert "there are more" in answer.text


@pytest.mark.real_services
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"state": "failed"}, "label_state"),
        ({"product": "alpha-18"}, "label_product"),
        ({"carrier": "beta"}, "label_product"),
    ],
)
def test_a_filter_reads_its_index(staff: Client, query: dict[str, str], index: str) -> None:
    use_indexes()
    with CaptureQueriesContext(connection) as captured:
        listed(staff, **query)
    (value,) = query.values()
    counts = [asked["sql"] for asked in captured if "COUNT(*) FROM (" in asked["sql"] and f"'{value}'" in asked["sql"]]
    assert index in str(execute(f"EXPLAIN {counts[0]}"))
