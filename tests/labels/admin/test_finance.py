"""The figures for finance: by month, shop, carrier and product, equal to the labels' lists and to the files."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.test import Client

from labels.admin import finance
from labels.figures.counting import recount
from parcels.figures.counting import count_moved
from parcels.figures.models import DayFigure
from parcels.models import Parcel
from shops.models import Shop
from shops.staff import days
from shops.staff.audit.models import AuditEntry
from tests.labels.factories import LabelFactory
from tests.support.api import logged_in, query_count
from tests.support.cases import in_one_test
from tests.support.desk import csv_rows
from tests.support.factories import ShopFactory, import_parcel

pytestmark = pytest.mark.usefixtures("no_sidebar")
PERMISSIONS = ("view_shippinglabel", "view_labelfigure")

FINANCE = "/admin/labels/labelfigure/"


@pytest.fixture
def counted(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of two months and two shops, counted in April: each day since is a count."""
    monkeypatch.setattr("labels.figures.counting.clock.now", lambda: datetime(2026, 4, 1, tzinfo=UTC))
    lumiere, port = ShopFactory(id="lumiere", name="Maison Lumière"), ShopFactory(id="port", name="Port")
    facts: list[tuple[Any, ...]] = [
        (lumiere, "beta", "label_generated", "2026-03-01", ["1.25", "0.5"], 2),
        (lumiere, "beta", "cancelled", "2026-03-31", ["2"], 1),
        (lumiere, "beta", "failed", "2026-03-15", ["9"], 1),
        (lumiere, "alpha", "label_generated", "2026-03-15", ["3"], 1),
        (port, "alpha", "failed", "2026-03-15", ["9"], 1),
        (port, "beta", "received", "2026-03-15", ["4"], 1),
        (port, "beta", "label_generated", "2026-02-28", ["5"], 3),
    ]
    for shop, carrier, state, day, weights, count in facts:
        at = datetime.fromisoformat(f"{day}T20:59:00Z")
        LabelFactory.create_batch(
            count, shop=shop, carrier_code=carrier, state=state, created_at=at, weights_kg=weights
        )
    recount()


def table(browser: Client, query: str = "") -> list[tuple[str, ...]]:
    rows = browser.get(f"{FINANCE}{query}").context["rows"]
    return [
        (f"{row['month']:%Y-%m}", *row["texts"][:2], *(figure.text for _, figure in row["figures"])) for row in rows
    ]


MARCH = "?since=2026-03&until=2026-03"
MARCH_ROWS = [
    ("2026-03", "Maison Lumière", "alpha", "1", "1", "3.000", "0"),
    ("2026-03", "Maison Lumière", "beta", "3", "5", "5.500", "1"),
    ("2026-03", "Port", "beta", "1", "1", "4.000", "0"),
]
FEBRUARY_ROW = ("2026-02", "Port", "beta", "3", "3", "15.000", "0")


def test_labels_bought_are_summed_by_month_shop_carrier_and_product(counted: None, staff: Client) -> None:
    assert table(staff, MARCH) == MARCH_ROWS
    total = staff.get(FINANCE + MARCH).context["total"]
    assert [figure.text for _, figure in total] == ["5", "7", "12.500", "1"]


def test_months_shop_and_carrier_narrow_the_figures(counted: None, staff: Client) -> None:
    assert table(staff, "?since=2026-03&until=2026-02") == [FEBRUARY_ROW, *MARCH_ROWS]
    assert table(staff, MARCH + "&shop=port") == MARCH_ROWS[2:]
    assert table(staff, MARCH + "&carrier=alpha&shop=") == MARCH_ROWS[:1]


def test_the_page_begins_with_this_month(staff: Client) -> None:
    shop = ShopFactory(name="Lumière")
    LabelFactory(shop=shop, days_ago=70)
    LabelFactory(shop=shop)
    recount()
    assert [row[0] for row in table(staff)] == [f"{days.today():%Y-%m}"]


def test_each_figure_equals_the_rows_of_the_list_that_it_leads_to(counted: None, staff: Client) -> None:
    links = 0
    for row in staff.get(f"{FINANCE}?since=2026-02&until=2026-03").context["rows"]:
        for _, figure in row["figures"]:
            if figure.link:
                links += 1
                assert staff.get(figure.link).context["cl"].result_count == int(figure.text), figure
    assert links == 5


@pytest.mark.any_database
@in_one_test("query", ["?since=2026-13", "?shop=unknown", "?carrier=gamma", "?day=1", "?since=x"])
def test_what_the_page_does_not_offer_is_refused(counted: None, staff: Client, query: str) -> None:
    assert staff.get(FINANCE + query).status_code == 400
    assert staff.get(f"{FINANCE}export.csv{query}").status_code == 400


@pytest.mark.any_database
def test_the_first_page_leads_those_to_the_figures_who_may_see_them(counted: None) -> None:
    assert FINANCE not in logged_in("view_parcel").get("/admin/").text
    assert FINANCE in logged_in("view_labelfigure", name="reporting").get("/admin/").text


def test_the_file_has_all_rows_with_what_was_cancelled(
    counted: None, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finance, "ROWS_SHOWN", 1)
    page = staff.get(FINANCE + MARCH)
    assert len(page.context["rows"]) == 1
    assert "The first 1 rows are shown" in page.text
    rows = csv_rows(staff.get(f"{FINANCE}export.csv{MARCH}"))
    assert len(rows) == 3
    assert rows[1] == {
        "Month": "2026-03",
        "Shop id": "lumiere",
        "Shop": "Maison Lumière",
        "Carrier": "beta",
        "Product": rows[1]["Product"],
        "Labels bought": "3",
        "Parcels": "5",
        "Kilograms": "5.5",
        "Cancelled labels": "1",
        "Cancelled parcels": "1",
        "Cancelled kilograms": "2",
    }
    assert AuditEntry.objects.latest("id").details["rows"] == 3


def test_the_page_costs_the_same_queries_however_many_labels_there_are(counted: None, staff: Client) -> None:
    staff.get(FINANCE)
    before = query_count(staff, FINANCE + MARCH)
    for _ in range(5):
        LabelFactory(shop=ShopFactory(), created_at=datetime(2026, 3, 2, tzinfo=UTC))
    recount()
    assert query_count(staff, FINANCE + MARCH) == before


def test_bought_handed_in_and_delivered_are_by_month_shop_and_carrier_as_their_lists(counted: None) -> None:
    shop = Shop.objects.get(pk="lumiere")
    march = 1_773_000_000_000  # 8 March 2026
    for number, (handed_in, delivered) in enumerate(
        [(march, None), (march, march + 1), (march, march + 40 * 86_400_000)]
    ):
        status = "DELIVERED" if delivered else "IN_TRANSIT"
        import_parcel(shop, id=f"P{number}", carrierCode="beta", lastStatus=status, deliveryDate=delivered)
        Parcel.objects.filter(pk=f"P{number}").update(handed_in_at=handed_in)
    DayFigure.objects.bulk_create(count_moved(date(2026, 3, 8)) + count_moved(date(2026, 4, 17)))
    browser = logged_in("view_labelfigure", "view_parcel")
    rows = browser.get(FINANCE + MARCH).context["moved"]
    assert [(*row["texts"], *(figure.text for _, figure in row["figures"])) for row in rows] == [
        ("Maison Lumière", "alpha", "1", "0", "0"),
        ("Maison Lumière", "beta", "5", "3", "1"),
        ("Port", "beta", "1", "0", "0"),
    ]
    for _, figure in rows[1]["figures"][1:]:
        assert browser.get(figure.link).context["cl"].result_count == int(figure.text)
    assert all(
        not figure.link
        for _, figure in logged_in("view_labelfigure", name="bob").get(FINANCE + MARCH).context["moved"][1]["figures"]
    )


def test_of_more_rows_of_hand_ins_than_the_page_holds_it_shows_the_first_and_says_so(
    counted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = logged_in("view_labelfigure")
    all_rows = browser.get(FINANCE + MARCH)
    assert "rows are shown" not in all_rows.text
    monkeypatch.setattr(finance, "MOVED_SHOWN", 2)
    cut = browser.get(FINANCE + MARCH)
    assert cut.context["moved"] == all_rows.context["moved"][:2]
    assert len(all_rows.context["moved"]) == 3
    assert "The first 2 rows are shown: choose fewer months, or a shop, for the others." in cut.text
