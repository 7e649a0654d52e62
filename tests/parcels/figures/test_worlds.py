"""The first page's figures of parcels, and the lists they lead to, against a count by hand of random worlds."""

import random
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from parcels.figures.counting import recount
from parcels.figures.timing import is_overdue
from parcels.models import Parcel, TrackingNumber
from shops.staff.panels import Tile
from tests.support.api import logged_in
from tests.support.desk import undrawn
from tests.support.factories import EventFactory, ParcelLineFactory, ShopFactory, import_lines, promise
from tests.support.sql import use_indexes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_sidebar")]
SEEDS = [pytest.param(0, marks=pytest.mark.real_services), pytest.param(1, marks=pytest.mark.any_database)]
HOUR_MS = 3_600_000
STATUSES = [None, "IN_TRANSIT", "OUT_FOR_DELIVERY", "DELIVERED", "EXCEPTION", "RETURNED_TO_SENDER"]


@dataclass(frozen=True)
class Facts:
    """The facts of one parcel; times are hours ago."""

    id: str
    created: float
    status: str | None
    promised: float | None
    delivered: float | None
    imported_event: float | None
    carriers_event: float | None
    is_followed: bool
    is_withdrawn: bool

    def timing(self) -> str:
        if self.promised is None:
            return ""
        if self.status == "DELIVERED":
            return "" if self.delivered is None else "on time" if self.delivered >= self.promised else "late"
        return "overdue" if self.promised > 0 and not self.is_withdrawn else ""

    def is_silent(self, days: int) -> bool:
        news = [hours for hours in (self.imported_event, self.carriers_event) if hours is not None]
        is_open = self.is_followed and self.status != "DELIVERED" and not self.is_withdrawn
        return is_open and min([self.created, *news]) > days * 24


def some(chance: random.Random, low: float, high: float) -> float | None:
    return chance.choice([None, chance.uniform(low, high), chance.uniform(low, high)])


def facts(chance: random.Random, number: int) -> Facts:
    created = chance.uniform(0.5, 29 * 24)
    status = chance.choice(STATUSES)
    return Facts(
        id=f"P{number}",
        created=created,
        status=status,
        promised=some(chance, -100, created),
        delivered=some(chance, 0.1, created) if status == "DELIVERED" else None,
        imported_event=some(chance, 0.2, created),
        carriers_event=some(chance, 0.2, created),
        is_followed=chance.random() < 0.7,
        is_withdrawn=chance.random() < 0.2,
    )


def line(fact: Facts) -> bytes:
    now_ms = timezone.now().timestamp() * 1000

    def at(hours: float) -> int:
        return int(now_ms - hours * HOUR_MS)

    heard = fact.imported_event
    made = ParcelLineFactory(
        id=fact.id,
        createdAt=at(fact.created),
        lastStatus=fact.status,
        lastStatusUpdatedAt=None,
        carrierLastStatus=None,
        deliveryDate=None if fact.delivered is None else at(fact.delivered),
        estimatedDeliveryDateWindow=None if fact.promised is None else promise(at(fact.promised)),
        events=[] if heard is None else [EventFactory(createdAt=at(heard)), EventFactory(createdAt=at(heard + 1))],
    )
    return orjson.dumps(made)


def follow(fact: Facts) -> None:
    """Let the carrier have told what is true of an imported parcel."""
    Parcel.objects.filter(id=fact.id).update(is_withdrawn=fact.is_withdrawn)
    now, heard = timezone.now(), fact.carriers_event
    told = {"last_event_at": None if heard is None else int(now.timestamp() * 1000 - heard * HOUR_MS)}
    followed = {"followed_since": now, "due_at": now + timedelta(hours=1) if fact.is_followed else None}
    TrackingNumber.objects.filter(parcel=fact.id).update(**told, **followed)


def tiles(staff: Client) -> dict[str, Tile]:
    return {tile.title: tile for tile in staff.get("/admin/").context["tiles"]}


def listed(staff: Client, link: str) -> set[str]:
    return {parcel.pk for parcel in undrawn(staff, link)["cl"].queryset}


@pytest.mark.parametrize("seed", SEEDS)
def test_late_on_time_and_silent_are_as_counted_by_hand(seed: int) -> None:
    chance, shop, staff = random.Random(seed), ShopFactory(), logged_in("view_parcel")
    world = [facts(chance, number) for number in range(60)]
    import_lines(shop, map(line, world))
    for fact in world:
        follow(fact)
    recount()
    shown = tiles(staff)
    timings = Counter(fact.timing() for fact in world)
    on_time = shown["Deliveries on time"]
    known = timings["on time"] + timings["late"] + timings["overdue"]
    assert on_time.figure.text == f"{100 * timings['on time'] / known:.1f}%"
    for figure, timing in zip(on_time.further, ("on time", "late", "overdue"), strict=True):
        assert int(figure.text.split()[0]) == timings[timing]
        assert listed(staff, figure.link) == {fact.id for fact in world if fact.timing() == timing}
    stuck = shown["Stuck parcels"].figure
    silent = {days: {fact.id for fact in world if fact.is_silent(days)} for days in (3, 7, 14)}
    assert int(stuck.text) == len(silent[7])
    assert listed(staff, stuck.link) == silent[7]
    for days in (3, 14):
        assert listed(staff, f"/admin/parcels/parcel/?silent={days}") == silent[days]
    statuses = Counter(fact.status for fact in world)
    (chart,) = [panel for panel in staff.get("/admin/").context["panels"] if panel.title == "Parcels by status"]
    assert sum(chart.series[0].values) == len(world)
    for value, link in zip(chart.series[0].values, chart.series[0].links, strict=True):
        assert len(listed(staff, link)) == value
    assert sorted(chart.series[0].values) == sorted(statuses.values())


@pytest.mark.real_services
def test_parcels_past_their_promise_are_found_along_their_index() -> None:
    overdue = Parcel.objects.filter(is_overdue(timezone.now()))
    use_indexes()
    assert "parcel_promised" in overdue.order_by().explain()
