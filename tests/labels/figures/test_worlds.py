"""The first page's figures of labels, and the lists they lead to, against a count by hand of random worlds."""

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from labels.figures.counting import recount
from labels.models import ShippingLabel
from shops.staff import days
from shops.staff.days import day_of
from tests.labels.factories import LabelFactory
from tests.support.api import logged_in
from tests.support.desk import undrawn
from tests.support.factories import ShopFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_sidebar")]
SEEDS = [pytest.param(0, marks=pytest.mark.real_services), pytest.param(1, marks=pytest.mark.any_database)]
BOUGHT = {"received", "label_generated", "cancelling", "cancel_unknown", "cancelled"}
STATES = [*sorted(BOUGHT), "failed", "failed", "unknown", "incomplete"]
CODES = ["ALPHA_ADDRESS_REJECTED", "BETA_UNAVAILABLE", "BETA_REQUEST_REJECTED"]


def make(chance: random.Random) -> ShippingLabel:
    state, at = chance.choice(STATES), timezone.now() - timedelta(hours=chance.uniform(12, 40 * 24))
    code = chance.choice(CODES) if state == "failed" else ""
    carrier = chance.choice(["alpha", "beta"])
    shop = ShopFactory()
    return LabelFactory(
        shop=shop, state=state, carrier_code=carrier, error_code=code, created_at=at, finished_at=at, leased_until=at
    )


def listed(staff: Client, link: str) -> int:
    return len(undrawn(staff, link)["cl"].queryset)


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_a_day_failures_and_what_waits_are_as_counted_by_hand(seed: int) -> None:
    chance, staff = random.Random(seed), logged_in("view_shippinglabel", "change_shippinglabel")
    world = [make(chance) for _ in range(40)]
    recount()
    context = staff.get("/admin/").context
    shown: dict[str, Any] = {panel.title: panel for panel in context["panels"]}
    today = days.today()
    bought = Counter((day_of(label.created_at), label.carrier_code) for label in world if label.state in BOUGHT)
    last_days = [today - timedelta(days=ago) for ago in range(29, -1, -1)]
    for series in shown["Labels a day"].series:
        assert series.values == [bought[day, series.name] for day in last_days]
        for value, link in zip(series.values, series.links, strict=True):
            assert not value or listed(staff, link) == value
    week = [label for label in world if label.state == "failed" and day_of(label.created_at) in last_days[-7:]]
    failures = shown["Failures by code"]
    (series,) = failures.series
    assert dict(zip(failures.places, series.values, strict=True)) == Counter(label.error_code for label in week)
    for value, link in zip(series.values, series.links, strict=True):
        assert listed(staff, link) == value
    waiting = [
        label for label in world if label.state in {"unknown", "incomplete", "received"}
    ]  # for half a day and longer
    assert next(row.count for row in context["queue"] if row.name == "to_decide") == len(waiting)
