"""A world in which carriers are asked where parcels are: their services over real HTTP, and parcels that are due."""

import re
import socket
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from parcels.models import Parcel, TrackingNumber
from parcels.tracking import limits
from shops.contracts import clients
from shops.models import Shop
from tests.carriers.support.servers import LoopbackServer, http
from tests.carriers.support.tracking import ASKED_NUMBER, beta_refusal, history
from tests.labels.factories import ContractFactory
from tests.support.api import Caller
from tests.support.factories import import_parcel

LOGIN = re.compile(rb'"login": "(\w+)"')
CREATED_AT = timezone.now() - timedelta(days=2)
OUTAGE = http(b"<html>Are you a robot?</html>", 503, "text/html")


@dataclass
class Carriers:
    """Both tracking services: what they know of each number, what they were asked, and how they fail."""

    events: dict[str, list[tuple[str, datetime]]] = field(default_factory=lambda: defaultdict(list))
    asked: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)  # beta's, of each question
    owners: dict[str, str] = field(default_factory=dict)  # beta's account that alone knows a number
    faults: dict[str, bytes] = field(default_factory=dict)  # by number; "" is for all
    before: Callable[[], object] = lambda: None  # called in the middle of each call

    def tell(self, number: str, *codes: str) -> None:
        """Let events happen to a parcel, an hour after the other."""
        told = self.events[number]
        told += [(code, CREATED_AT + timedelta(hours=len(told) + place)) for place, code in enumerate(codes, 1)]

    def play(self, stream: socket.socket, request: bytes) -> bool:
        match = ASKED_NUMBER.search(request)
        assert match
        login = found[1].decode() if (found := LOGIN.search(request)) else ""
        self.logins.append(login)
        number = (match[1] or match[2]).decode()
        self.asked.append(number)
        self.before()
        fault = self.faults.get(number) or self.faults.get("")
        stream.sendall(fault or self.answer("alpha" if match[1] else "beta", number, login))
        return True

    def answer(self, carrier: str, number: str, login: str) -> bytes:
        if self.owners.get(number, login) != login:
            return beta_refusal("104")
        return history(carrier, number, [(code, at, "Parcel scanned") for code, at in self.events[number]])


@pytest.fixture
def carriers(transactional_db: None, settings: Settings) -> Iterator[Carriers]:
    """The carriers, with new clients, and limits that no test reaches."""
    made = Carriers()
    with LoopbackServer(made.play) as server:
        settings.CARRIER_ENDPOINTS = {
            name: urls | {"tracking_url": server.url} for name, urls in settings.CARRIER_ENDPOINTS.items()
        }
        settings.TRACKING_RATES = dict.fromkeys(settings.TRACKING_RATES, 1000.0)
        forget_clients()
        yield made
    forget_clients()


def forget_clients() -> None:
    clients.tracker.cache_clear()
    limits.slots.cache_clear()


@pytest.fixture
def shop(carriers: Carriers, own: Caller) -> Shop:
    """A shop with both contracts."""
    for carrier_code in ("alpha", "beta"):
        ContractFactory(shop=own.shop, carrier_code=carrier_code)
    return own.shop


def follow(shop: Shop, number: str, *, carrier_code: str = "alpha", is_due: bool = True, **fields: Any) -> str:
    """Import a parcel that nothing has happened to, and have its carrier asked now; return its id."""
    values = {
        "trackingNumbers": [number],
        "lastStatus": None,
        "lastStatusUpdatedAt": None,
        "carrierLastStatus": None,
        "events": [],
        "createdAt": int(CREATED_AT.timestamp() * 1000),
    } | fields
    parcel = import_parcel(shop, trackingId=number, carrierCode=carrier_code, **values)
    now = timezone.now()
    TrackingNumber.objects.filter(parcel=parcel["id"], due_at__isnull=False).update(
        followed_since=now - timedelta(days=1),
        due_at=now - timedelta(minutes=1) if is_due else now + timedelta(hours=1),
    )
    return str(parcel["id"])


def status(parcel_id: str) -> str | None:
    return Parcel.objects.get(id=parcel_id).last_status


def make_due() -> None:
    """Let time pass until all numbers are due that are asked about at all."""
    TrackingNumber.objects.filter(due_at__isnull=False).update(due_at=timezone.now() - timedelta(minutes=1))
