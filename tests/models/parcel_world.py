"""The world of parcels: two shops with endpoints, both carriers with what they know of each number, and time."""

import json
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from tests.carriers.support.servers import LoopbackServer
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory
from tests.labels.orders import order, post
from tests.models import product
from tests.models.interruptions import Commits
from tests.models.label_world import LINKED
from tests.models.parcel_carriers import Carriers
from tests.shops.webhooks.receivers import Received, Receiver
from tests.support.api import Caller
from tests.support.factories import ParcelLineFactory

LEASE_S = 120
MINUTE_MS = 60_000
# Ids as shops have them, some of which pages and paths have to quote.
PARCEL_IDS = ("P_12", "order:77", "gid://shopify/Fulfillment/4711", "A&B")
FREE_NUMBERS = {"alpha": ("XA000000011FR", "XA000000025FR"), "beta": ("8R00000000017", "8R00000000024")}
SHARED = "8R00000000017"  # both shops have a parcel with it


@dataclass
class Label:
    """A label that a shop ordered."""

    id: str
    carrier: str
    numbers: list[str]
    state: str = "bought"  # bought, open (it may be adopted), cancelling, cancelled
    was_imported: bool = False  # an import has named one of its numbers

    def is_sold(self) -> bool:
        return self.state == "bought"


@dataclass
class Line:
    """A parcel as an import said it last."""

    numbers: list[str]
    created_at: int
    updated_at: int
    needle: str
    email: str
    since_s: dict[str, float]  # when each number joined it, or the shop had news of it


@dataclass
class Endpoint:
    """A shop's endpoint, its receiver and its secrets, each with the time at which it was replaced."""

    id: str
    receiver: Receiver
    secrets: list[tuple[str, float]]
    may_be_late: bool = False  # something may have been given up
    is_paused: bool = False
    checked: int = 0  # requests whose signatures were verified

    @property
    def taken(self) -> list[Received]:
        """The first request of each event that was answered with 200, in order."""
        found = {each.id: each for each in reversed(self.receiver.received) if each.status == 200}
        return [each for each in self.receiver.received if found.get(each.id) is each]


@dataclass
class Shop:
    """A shop, what it said of its parcels, and its labels."""

    caller: Caller
    ids: tuple[str, ...]
    free: dict[str, tuple[str, ...]]
    lines: dict[str, Line] = field(default_factory=dict)
    reports: dict[str, tuple[int, str]] = field(default_factory=dict)  # of each parcel: the newest status and its time
    labels: list[Label] = field(default_factory=list)
    steady: Endpoint = None  # type: ignore[assignment]  # made with each story
    moody: Endpoint = None  # type: ignore[assignment]  # as above
    erased: set[str] = field(default_factory=set)
    touched: dict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )  # named since the last check, by whom

    @property
    def id(self) -> str:
        return self.caller.shop.id

    def label_with(self, number: str) -> Label | None:
        return next((each for each in self.labels if number in each.numbers), None)

    def numbers(self) -> list[str]:
        free = [number for numbers in self.free.values() for number in numbers]
        return [*free, *(number for label in self.labels for number in label.numbers)]

    def carrier_of(self, number: str) -> str:
        label = self.label_with(number)
        return label.carrier if label else next(name for name, numbers in self.free.items() if number in numbers)

    def namers(self, number: str) -> list[str]:
        """The parcels whose last import names a number, the newest first."""
        named = [(line.created_at, parcel_id) for parcel_id, line in self.lines.items() if number in line.numbers]
        return [parcel_id for _, parcel_id in sorted(named, reverse=True)]


class World:
    """One story's world."""

    def __init__(
        self, sandbox: Sandbox, folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
    ) -> None:
        self.sandbox, self.folder = sandbox, folder
        self.carriers = Carriers()
        self.endpoints_url = dict(settings.CARRIER_ENDPOINTS)
        settings.CARRIER_ENDPOINTS = dict(self.endpoints_url)
        self.tracking_url = stack.enter_context(LoopbackServer(self.carriers.play)).url
        settings.TRACKING_RATES = dict.fromkeys(settings.TRACKING_RATES, 1000.0)
        settings.TRACKING_CONCURRENCY = 1
        monkeypatch.setattr("shops.webhooks.delivering.CONCURRENCY", 32)
        settings.WEBHOOK_ALLOW_PRIVATE, settings.KEEP_PARCELS_DAYS = True, 400
        self.commits = Commits(monkeypatch)
        self.staff = product.Staff()
        callers = [product.new_shop(), product.new_shop("--id", "eu-west_40")]
        for caller in callers:
            for carrier in product.CARRIERS:
                ContractFactory(shop=caller.shop, carrier_code=carrier)
        self.callers = callers
        self.receivers = [stack.enter_context(Receiver()) for _ in range(4)]
        self.restart()

    def restart(self) -> None:
        """Begin a story: nothing was imported or bought, nothing fails."""
        product.forget_everything()
        self.sandbox.server.state.reset()
        self.carriers.restart()
        self.forget_clients()
        self.now_s = 0.0  # the time that has passed in the story
        self.began_at = int(time()) * 1000 - 24 * 60 * MINUTE_MS
        self.steps = 0
        self.orders = 0
        self.was_killed = self.is_leased = False
        self.shops = [self.new_shop(rank, caller) for rank, caller in enumerate(self.callers)]

    def new_shop(self, rank: int, caller: Caller) -> Shop:
        suffix = "" if rank == 0 else "~2"
        free = {
            name: tuple(number if number == SHARED else number[:-1] + "RT"[rank] for number in them)
            for name, them in FREE_NUMBERS.items()
        }
        shop = Shop(caller, tuple(each + suffix for each in PARCEL_IDS), free)
        shop.steady, shop.moody = (self.new_endpoint(shop, self.receivers[2 * rank + each]) for each in (0, 1))
        return shop

    def new_endpoint(self, shop: Shop, receiver: Receiver) -> Endpoint:
        receiver.received.clear()
        receiver.status = 200
        receiver.release()
        endpoint_id, secret = product.new_endpoint(shop.id, receiver.url)
        return Endpoint(endpoint_id, receiver, [(secret, float("inf"))])

    def forget_clients(self) -> None:
        product.forget_clients(self.endpoints_url, self.tracking_url)

    # --- Time ---

    def next_minute(self) -> int:
        """A moment of the story for what happens now, in milliseconds: each is later than the one before."""
        self.steps += 1
        return self.began_at + self.steps * MINUTE_MS

    def pass_time(self, seconds: float) -> None:
        product.pass_time(seconds)
        self.now_s += seconds
        self.is_leased = self.is_leased and seconds < LEASE_S
        self.forget_clients()

    @property
    def has_two_clocks(self) -> bool:
        return connection.vendor == "postgresql"

    # --- The shops ---

    def line(self, shop: Shop, parcel_id: str, numbers: list[str], **fields: Any) -> dict[str, Any]:
        rank = shop.ids.index(parcel_id)
        needle = f"needle{self.steps}x{rank}q"
        line = dict(
            ParcelLineFactory(
                id=parcel_id,
                orderId=f"order-{parcel_id}",
                orderNumber=f"#{parcel_id}",
                trackingId=numbers[0],
                trackingNumbers=numbers,
                carrierCode=shop.carrier_of(numbers[0]),
                carrierLastStatus=None,
                estimatedDeliveryDateWindow=None,
                lastStatus=None,
                lastStatusUpdatedAt=None,
                events=[],
                createdAt=self.began_at - (10 + rank) * MINUTE_MS,
                updatedAt=int(time() * 1000),
                customerEmail=f"{parcel_id.replace('/', '.').replace(':', '.')}@example.com",
                previousEmails=[],
            )
            | fields
        )
        line["destination"] = line["destination"] | {"firstName": needle, "name": needle}
        return line

    def import_lines(self, shop: Shop, lines: list[dict[str, Any]]) -> None:
        product.import_lines(shop.id, lines, self.folder)

    def note_import(self, shop: Shop, lines: list[dict[str, Any]]) -> None:
        """Note what an import said."""
        for line in lines:
            needle, numbers = line["destination"]["firstName"], line["trackingNumbers"]
            before = shop.lines.get(line["id"])
            since_s = {number: before.since_s.get(number, self.now_s) if before else self.now_s for number in numbers}
            told = (line["lastStatusUpdatedAt"], line["lastStatus"])
            if line["lastStatus"] and told > shop.reports.get(line["id"], (0, "")):
                shop.reports[line["id"]] = told
                since_s = dict.fromkeys(numbers, self.now_s)
            shop.lines[line["id"]] = Line(
                numbers, line["createdAt"], line["updatedAt"], needle, line["customerEmail"], since_s
            )
            for number in line["trackingNumbers"]:
                shop.touched[number].add(line["id"])
                if number != SHARED:
                    self.carriers.needle_of[number] = needle
        self.note_named(shop)

    def note_named(self, shop: Shop) -> None:
        for label in shop.labels:
            if label.state != "open" and any(shop.namers(number) for number in label.numbers):
                label.was_imported = True

    def buy(self, shop: Shop, carrier: str, count: int, fault: str | None = None) -> None:
        self.orders += 1
        order_id = f"bought-{self.orders}"
        email = {"email": f"{order_id}@example.com", "firstName": f"needle{self.orders}b"}
        weights = [{"weight": 1 + rank} for rank in range(count)]
        if fault:
            self.sandbox.arm(fault, count=1)
        post(shop.caller, order(LINKED[carrier], orderId=order_id, parcels=weights, destination=email), key=order_id)
        self.sandbox.disarm()
        for label_id in product.labels_of(order_id):
            numbers = [each.tracking_number for each in self.sandbox.made(label_id)]
            shop.labels.append(Label(label_id, carrier, numbers, product.label_state(label_id)))
        self.note_named(shop)

    def note_states(self) -> None:
        for shop in self.shops:
            for label in shop.labels:
                label.state = product.label_state(label.id)
            self.note_named(shop)

    # --- The carriers ---

    def happen(self, shop: Shop, number: str, code: str, *, is_late: bool) -> None:
        """Let something happen to a parcel; late, it is told after what happened later."""
        events, at = self.carriers.events[number], self.next_minute()
        if is_late and events:
            at = events[-1][0] - 1000 * self.steps
        carrier = shop.carrier_of(number)
        self.carriers.happen(carrier, number, code, at, self.now_s)
        self.sandbox.server.state.ledger.collected.add((carrier, number))

    def get(self, shop: Shop, number: str) -> dict[str, Any] | None:
        answer = shop.caller.look_up(number)
        assert answer.status_code in {200, 404}, answer.content
        return json.loads(answer.content) if answer.status_code == 200 else None
