"""A parcel is handed in at its first event that is more than an announcement, by whichever way the event came."""

import importlib
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from carriers.tracking import Status
from parcels.figures.counting import recount
from parcels.figures.models import DayFigure
from parcels.models import Parcel, TrackingNumber
from parcels.tracking.timeline import recompute
from shops.models import Shop
from shops.staff.days import bounds, today
from tests.support.api import logged_in
from tests.support.factories import EventFactory, ShopFactory, import_parcel, promise

pytestmark = pytest.mark.django_db
T = 1_790_000_000_000
BACKFILL = importlib.import_module("parcels.migrations.0011_handed_in_before")


@pytest.fixture
def shop() -> Shop:
    return ShopFactory(id="lumiere")


def told(at: int, status: Status | None, code: str) -> dict[str, Any]:
    facts = {"code": code, "at": at, "text": "", "place": "", "is_listed": True, "kept_until": None}
    return facts | {"status": status and status.value}


def handed_in(shop: Shop, *events: dict[str, Any], **fields: Any) -> int | None:
    """Give an imported parcel these events of its carrier; return when it was handed in."""
    made = import_parcel(shop, **{"lastStatus": None, "lastStatusUpdatedAt": None, "events": []} | fields)
    TrackingNumber.objects.filter(parcel=made["id"]).update(events=list(events))
    recompute([made["id"]], timezone.now())
    return Parcel.objects.get(id=made["id"]).handed_in_at


def test_announcements_and_messages_are_no_hand_in(shop: Shop) -> None:
    assert handed_in(shop) is None
    assert handed_in(shop, told(T, S.FULFILLED, "DC"), told(T + 1, None, "SM"), told(T + 2, S.FULFILLED, "EA")) is None


def test_the_first_scan_is_the_hand_in_whatever_comes_after(shop: Shop) -> None:
    scans = [told(T + 9, S.DELIVERED, "D"), told(T + 5, S.IN_TRANSIT, "DB"), told(T, S.FULFILLED, "DC")]
    assert handed_in(shop, *scans, told(T + 6, None, "SM")) == T + 5
    assert handed_in(shop, told(T, S.EXCEPTION, "SK")) == T


def test_an_import_says_it_too(shop: Shop) -> None:
    events = [EventFactory(createdAt=T + at, status=status) for at, status in ((2, "DELIVERED"), (1, "IN_TRANSIT"))]
    announced = EventFactory(createdAt=T, status="FULFILLED")
    for last, given, expected in (
        ("DELIVERED", [*events, announced], T + 1),
        ("FULFILLED", [announced], None),
        ("IN_TRANSIT", [], T + 7),
        (None, [], None),
    ):
        at = None if last is None else T + 7
        made = import_parcel(shop, lastStatus=last, lastStatusUpdatedAt=at, events=given)
        assert Parcel.objects.get(id=made["id"]).handed_in_at == expected


def test_rows_from_before_get_what_they_would_have_got(shop: Shop) -> None:
    for last, statuses in (
        ("DELIVERED", ["DELIVERED", "IN_TRANSIT", "FULFILLED"]),
        ("FULFILLED", ["IN_TRANSIT", "FULFILLED"]),
        ("FULFILLED", ["FULFILLED"]),
        ("EXCEPTION", []),
        (None, []),
    ):
        events = [EventFactory(createdAt=T - at, status=status) for at, status in enumerate(statuses)]
        import_parcel(shop, lastStatus=last, lastStatusUpdatedAt=last and T, events=events)
    expected = dict(Parcel.objects.values_list("id", "handed_in_at"))
    assert list(expected.values()).count(None) == 2
    Parcel.objects.update(handed_in_at=None)
    BACKFILL.forwards(apps, SimpleNamespace(connection=connection))
    assert dict(Parcel.objects.values_list("id", "handed_in_at")) == expected


def test_a_shop_s_day_is_counted_and_leads_to_its_list(shop: Shop) -> None:
    day = today() - timedelta(days=1)
    start, end = (int(each.timestamp() * 1000) for each in bounds(day))
    for at in (start - 1, start, end - 1, end):
        import_parcel(shop, carrierCode="beta", lastStatus="IN_TRANSIT", events=[EventFactory(createdAt=at)])
    for late_ms in (0, 1):
        import_parcel(
            shop,
            carrierCode="beta",
            lastStatus="DELIVERED",
            deliveryDate=start + late_ms,
            estimatedDeliveryDateWindow=promise(start),
            events=[EventFactory(createdAt=end + late_ms, status="DELIVERED")],
        )
    recount()
    counted = DayFigure.objects.get(day=day, shop=shop, carrier_code="beta")
    assert (counted.handed_in, counted.delivered, counted.promised, counted.on_time) == (2, 2, 2, 1)
    staff = logged_in("view_parcel", "view_shop")
    assert f"handed_in_from={day}" in staff.get(f"/admin/shops/shop/{shop.id}/change/").text
    lists = {"handed_in": 2, "delivered": 2}
    for name, count in lists.items():
        query = {"shop__id__exact": shop.id, f"{name}_from": str(day), f"{name}_to": str(day)}
        assert staff.get("/admin/parcels/parcel/", query).context["cl"].result_count == count
    assert staff.get("/admin/parcels/parcel/", {"handed": "no"}).context["cl"].result_count == 0
    assert staff.get("/admin/parcels/parcel/", {"handed": "yes"}).context["cl"].result_count == 6


S = Status
