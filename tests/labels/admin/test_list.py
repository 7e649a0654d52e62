"""The staff's list of labels: found, filtered and counted along indexes."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labels.admin import states
from labels.models import LabelState, ShippingLabel, lease
from shops.admin import base
from shops.models import Shop
from tests.labels.admin.pages import CONTRACTS, LABELS, NOON, listed, page_of
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.factories import AccessTokenFactory, ShopFactory


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
    for text in ("0" * 14 + "1", "Maison Lumière", "alpha · alpha-18", "6A1 +1", "checkout", "23 Sep 2026, 12:00 UTC"):
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
    exact: dict[str, list[str]] = {
        "cmd-7": [],
        "CMD-7": [],
    }  # the case of an order id is the shop's own, when it is mixed
    assert listed(staff, q=text) == exact.get(text, ["Cmd-7"])


@pytest.mark.parametrize("text", ["100%", "_", "'; --", "x" * 60_000, "\u202e", "🦉", '"', "\\", "[]", '["6A1111"]'])
def test_any_text_can_be_searched_for(staff: Client, shop: Shop, text: str) -> None:
    LabelFactory(shop=shop, tracking_numbers=["6A1111"])
    assert listed(staff, q=text) == []


def test_a_tracking_number_is_found_along_the_index(shop: Shop) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL has an index into a list")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = ShippingLabel.objects.order_by().with_tracking_number("6A1111", "6a1111").explain()
    assert plan.count("label_tracking_numbers") == 2


def test_a_search_compares_exactly(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, order_id="5400000001")
    with CaptureQueriesContext(connection) as captured:
        listed(staff, q="5400000001")
    searches = [query["sql"] for query in captured if "UNION ALL" in query["sql"]]
    assert len(searches) == 2  # the page and its count
    assert not [sql for sql in searches if "UPPER(" in sql or "OUTER JOIN" in sql]


def test_the_list_is_filtered_by_shop_carrier_state_day_and_decision(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, order_id="1", carrier_code="alpha", created_at=NOON)
    LabelFactory(shop=shop, state="unknown", order_id="2", created_at=NOON + timedelta(days=1))
    LabelFactory(shop=ShopFactory(), state="incomplete", order_id="3", created_at=NOON + timedelta(days=2))
    LabelFactory(shop=shop, state="failed", order_id="4", created_at=NOON + timedelta(days=3), decided_at=NOON)
    assert sorted(listed(staff, shop__id__exact=shop.id)) == ["1", "2", "4"]
    assert listed(staff, carrier="alpha") == ["1"]
    assert listed(staff, carrier="gamma") == []
    assert sorted(listed(staff, state=["failed", "unknown"])) == ["2", "4"]
    assert sorted(listed(staff, decision="needed")) == ["2", "3"]
    assert listed(staff, decision="made") == ["4"]
    assert sorted(listed(staff, created_from="2026-09-24", created_to="2026-09-25")) == ["2", "3"]
    assert listed(staff, created_to="2026-09-23") == ["1"]
    assert len(listed(staff, created_to="9999-12-31")) == 4
    assert listed(staff, created_from="yesterday") == []


def test_what_needs_a_decision_is_counted_on_every_page_and_one_click_away(staff: Client, shop: Shop) -> None:
    assert "Labels to decide" not in staff.get("/admin/").text
    assert "need a decision" not in staff.get(LABELS).text
    LabelFactory(shop=shop, state="unknown")
    LabelFactory(shop=shop, state="incomplete")
    LabelFactory(shop=shop, state="failed")
    for path in ("/admin/", LABELS, CONTRACTS):
        page = staff.get(path).text
        assert f'href="{LABELS}?decision=needed"' in page
        assert re.search(r"Labels to decide</span>\s*<span[^>]*>\s*2\s*</span>", page)
    assert "2 labels need a decision" in staff.get(LABELS).text
    assert "labels need a decision" not in staff.get(LABELS, {"decision": "needed"}).text


def test_a_label_with_a_notice_is_marked_counted_and_one_click_away(staff: Client, shop: Shop) -> None:
    assert "needs attention" not in staff.get(LABELS).text
    LabelFactory(shop=shop, order_id="1", staff_notice="The customs form did not come")
    LabelFactory(shop=shop, order_id="2")
    page = staff.get(LABELS).text
    assert "1 label needs attention" in page
    assert 'href="?decision=notice"' in page
    assert page.count('title="The customs form did not come"') == 1
    assert "&lt;span" not in page
    narrowed = staff.get(LABELS, {"decision": "notice"}).text
    assert "label needs attention" not in narrowed
    assert listed(staff, decision="notice") == ["1"]


def test_the_list_and_the_page_cost_the_same_for_one_label_and_for_fifty(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown", order_id="7", tracking_numbers=["6A0"])
    paths = (LABELS, f"{LABELS}?q=7", f"{LABELS}{label.id}/change/", CONTRACTS)
    ContractFactory(shop=shop, carrier_code="beta")
    for path in paths:
        staff.get(path)  # what is remembered for longer than a request
    costs = [queries(staff, path) for path in paths]
    for number in range(1, 50):
        other = ShopFactory()
        ContractFactory(shop=other, carrier_code="alpha")
        token = AccessTokenFactory(shop=other, name="checkout")
        LabelFactory(shop=other, state="received", order_id="7", token_id=token.id, tracking_numbers=[f"6A{number}"])
    assert len(listed(staff, q="7")) == 50
    assert [queries(staff, path) for path in paths] == costs
    assert max(costs) <= 14  # PostgreSQL is asked for the time as well


def test_the_list_reads_neither_pdfs_nor_addresses(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, state="received")
    with CaptureQueriesContext(connection) as captured:
        listed(staff)
    for name in ("pdf", "sender", "recipient", "error_message"):
        assert not [query for query in captured if f'"{name}"' in query["sql"]]


def test_a_page_reads_no_pdf(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="received")
    with CaptureQueriesContext(connection) as captured:
        page_of(staff, label)
    assert not [query for query in captured if '"pdf"' in query["sql"]]


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


def queries(staff: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert staff.get(path).status_code == 200
    return len(captured)
