"""The staff's first page: figures that equal the lists that they lead to, their age, and who sees them."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from labels.figures import counting as label_counting
from parcels.figures import counting as parcel_counting
from parcels.models import TrackingNumber
from shops.models import Shop
from shops.staff.days import STAFF_TIME_ZONE, today
from shops.staff.figures import Recount
from shops.staff.panels import Chart, Figure, Table, Tile
from shops.webhooks import endpoints
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tests.labels.factories import LabelFactory
from tests.shops.webhooks.receivers import tell_label
from tests.support.api import logged_in, query_count
from tests.support.desk import listed
from tests.support.factories import ShopFactory, import_parcel, ms_ago, promise

pytestmark = pytest.mark.django_db
PERMISSIONS = ("view_parcel", "view_shippinglabel", "view_webhookendpoint", "view_webhookdelivery", "view_shop")
KINDS = ("tiles", "panels", "beside")


def fill(shop: Shop) -> None:
    """Make a different number of rows of each kind that a figure counts, an hour or more within its days."""
    for carrier, days, count in (("alpha", 0, 3), ("beta", 0, 2), ("alpha", 4, 1), ("beta", 28, 4), ("beta", 40, 5)):
        LabelFactory.create_batch(count, shop=shop, carrier_code=carrier, days_ago=days)
    LabelFactory(shop=shop, state="cancelled")
    for code, days, count in (
        ("ALPHA_UNAVAILABLE", 0, 3),
        ("BETA_ADDRESS_REJECTED", 5, 2),
        ("ALPHA_UNAVAILABLE", 9, 1),
    ):
        LabelFactory.create_batch(
            count, shop=shop, carrier_code=code.split("_")[0].lower(), state="failed", error_code=code, days_ago=days
        )
    LabelFactory.create_batch(2, shop=shop, state="unknown", days_ago=3)
    for status, days, count in (("IN_TRANSIT", 1, 3), (None, 5, 2), ("EXCEPTION", 12, 1), ("IN_TRANSIT", 40, 2)):
        for _ in range(count):
            import_parcel(shop, createdAt=ms_ago(days), lastStatus=status, carrierCode="alpha")
    for late_ms in (-1, 0, 1):
        end = ms_ago(2)
        import_parcel(
            shop,
            createdAt=ms_ago(6),
            lastStatus="DELIVERED",
            deliveryDate=end + late_ms,
            estimatedDeliveryDateWindow=promise(end),
        )
    TrackingNumber.objects.update(last_event_at=None)
    fill_webhooks(shop)


def fill_webhooks(shop: Shop) -> None:
    made = [endpoints.create(shop=shop, url=f"https://203.0.113.{number}/")[0].id for number in range(1, 5)]
    tell_label(shop.id, "label")
    WebhookDelivery.objects.filter(endpoint__in=made[:3]).update(state=DeliveryState.DEAD)
    WebhookEndpoint.objects.filter(id=made[0]).update(failing_since=timezone.now())
    WebhookEndpoint.objects.filter(id__in=made[1:3]).update(disabled_at=timezone.now())


def count() -> None:
    label_counting.recount()
    parcel_counting.recount()


def linked(context: Any) -> Iterator[tuple[str, Figure]]:
    """Every figure of the page that leads somewhere, with its panel's title; those of the queue have a test."""
    for panel in [each for kind in KINDS for each in context[kind]]:
        shown = [panel.figure, *panel.further] if isinstance(panel, Tile) else [f for _, row in panel.rows for f in row]
        yield from ((panel.title, figure) for figure in shown if figure.link)


def test_every_figure_equals_the_number_of_rows_in_the_list_that_it_leads_to(
    staff: Client, shop: Shop, settings: Any
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    fill(shop)
    fill(ShopFactory(is_test=True))
    count()
    context = staff.get("/admin/").context
    checked: dict[str, int] = {}
    for title, figure in linked(context):
        number = int(figure.text.split()[0].replace(",", ""))
        assert listed(staff, figure.link) == number, (title, figure)
        checked[title] = checked.get(title, 0) + number
    assert checked == {
        "Labels a day": 11,
        "Failures by code": 5,
        "Buying labels": 9,
        "Stuck parcels": 3,
        "Deliveries on time": 3 + 6,  # the others are past their promise
        "Parcels by status": 9,
        "Yesterday": 0,
        "Parcels without news for": 5 + 3 + 2,
        "Webhook deliveries given up": 3,
    }


@pytest.mark.any_database
def test_a_bar_leads_where_its_figure_in_the_table_leads(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, carrier_code="alpha")
    count()
    (chart,) = [panel for panel in staff.get("/admin/").context["panels"] if panel.title == "Labels a day"]
    assert isinstance(chart, Chart)
    _, row = chart.rows[-1]
    assert [figure.text for figure in row] == ["1", "0"]
    assert row[0].link == chart.series[0].links[-1]
    assert f'"{row[0].link}"' in chart.data
    day = today().isoformat()
    query = parse_qs(urlsplit(row[0].link).query)
    assert (query["created_from"], query["created_to"], query["carrier"]) == ([day], [day], ["alpha"])


@pytest.mark.any_database
def test_a_chart_is_a_table_too_and_nothing_of_the_page_is_an_inline_script(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, days_ago=1)
    count()
    page = staff.get("/admin/").text
    assert '<th scope="col">alpha</th><th scope="col">beta</th>' in page
    assert 'class="chart"' in page
    assert "<script>" not in page


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("permissions", "titles"),
    [
        (["view_parcel"], {"Stuck parcels", "Parcels by status", "Tracking"}),
        (["view_shippinglabel"], {"Labels a day", "Failures by code", "Buying labels"}),
        (["view_webhookdelivery"], {"Webhook deliveries given up"}),
        (["view_user"], set()),
    ],
)
def test_a_figure_is_shown_to_those_who_may_see_its_list(permissions: list[str], titles: set[str]) -> None:
    page = logged_in(*permissions).get("/admin/")
    shown = {panel.title for panel in [each for kind in KINDS for each in page.context[kind]]}
    assert titles <= shown
    everything = logged_in(*PERMISSIONS, name="all").get("/admin/").context
    hidden = {panel.title for panel in [each for kind in KINDS for each in everything[kind]]} - shown
    assert hidden
    assert not [title for title in hidden if f"<h2>{title}</h2>" in page.text]


@pytest.mark.any_database
def test_the_page_says_of_when_its_figures_are(staff: Client, shop: Shop) -> None:
    count()
    page = staff.get("/admin/").text
    counted_at = Recount.objects.earliest("counted_at").counted_at
    assert f"Counted as of {timezone.localtime(counted_at, STAFF_TIME_ZONE):%H:%M}." in page
    assert 'role="alert"' not in page


@pytest.mark.any_database
def test_figures_that_nobody_has_counted_for_a_quarter_of_an_hour_are_announced(staff: Client) -> None:
    assert "has not run" in staff.get("/admin/").text
    count()
    Recount.objects.filter(name="labels").update(counted_at=timezone.now() - timedelta(minutes=16))
    page = staff.get("/admin/").text
    assert 'role="alert"' in page
    assert "16 min old" in page
    assert "manage.py work" in page


def test_the_page_costs_the_same_queries_however_much_there_is(staff: Client, shop: Shop, settings: Any) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    fill(shop)
    count()
    staff.get("/admin/")  # a session's first request writes to it
    before = query_count(staff, "/admin/")
    fill(ShopFactory(id="second"))
    count()
    assert query_count(staff, "/admin/") == before


@pytest.mark.any_database
def test_an_open_circuit_breaker_and_late_tracking_stand_out(staff: Client, shop: Shop) -> None:
    import_parcel(shop, carrierCode="alpha", lastStatus="IN_TRANSIT", createdAt=ms_ago(1))
    TrackingNumber.objects.update(due_at=timezone.now() - timedelta(minutes=20))
    count()
    (tracking,) = [panel for panel in staff.get("/admin/").context["beside"] if panel.title == "Tracking"]
    assert isinstance(tracking, Table)
    assert tracking.rows[0][1][-1] == Figure("20 min", is_bad=True)
