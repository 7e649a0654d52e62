"""The world of a label's life: a shop, both carriers over HTTP, a storage and a person, and what can go wrong."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from carriers import pdf
from carriers.http.transport import Transport, UnreadableError
from carriers.sandbox.parcel import Purchase
from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from labels.lifecycle import purchase
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from parcels.models import Parcel
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import CONTROL, Sandbox
from tests.labels.interruptions import pass_time
from tests.labels.orders import ACCOUNT, order, post
from tests.models.interruptions import Commits, Killed, die
from tests.models.label_carriers import age, without_a_number
from tests.support.api import Caller, Response
from tests.support.threads import Threads
from tests.support.tracking import record

if TYPE_CHECKING:
    from concurrent.futures import Future

JOIN_TIMEOUT_S, HOUR_S = 60, 3600
LINKED = {"alpha": "alpha-13", "beta": "beta_domicile_sans_signature_outre_mer"}


@dataclass
class Order:
    """A shop's order, and its client's knowledge: it repeats with its key until it is told to take a new one."""

    id: str
    carrier: str
    weights_kg: list[int]
    keys: int = 0
    given: set[str] = field(default_factory=set)  # the ids of labels that were answered with 201

    @property
    def key(self) -> str:
        return f"{self.id}-{self.keys}"

    @property
    def body(self) -> dict[str, Any]:
        parcels = [{"weight": weight} for weight in self.weights_kg]
        return order(LINKED[self.carrier], orderId=self.id, parcels=parcels)


class World:
    """One story's world."""

    def __init__(self, buyer: Caller, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.buyer, self.sandbox, self.folder = buyer, sandbox, folder
        self.own = threading.local()  # the interruption that is planned for a thread
        self.is_merging, self.is_unnumbered = True, False
        CarrierContract.objects.update(account_number=ACCOUNT["alpha"])  # that of beta may be the same
        self.commits = Commits(monkeypatch)
        self.patch(monkeypatch)
        self.restart()

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reserve, send, store, merge = purchase.reserve, Transport.post, storage.store, pdf.rewritten

        def reserving(*args: Any) -> None:
            self.reach("before the reservation")
            reserve(*args)
            self.reach("after the reservation")

        def sending(*args: Any) -> Any:
            self.reach("before the carrier")
            answer = send(*args)
            self.reach("after the carrier")
            return without_a_number(answer) if self.is_unnumbered else answer

        def storing(*args: Any) -> None:
            self.reach("before the storage")
            store(*args)
            self.reach("after the storage")

        def merging(*args: Any) -> bytes:
            if not self.is_merging:
                raise UnreadableError("the labels cannot be merged")
            return merge(*args)

        monkeypatch.setattr(purchase, "reserve", reserving)
        monkeypatch.setattr(Transport, "post", sending)
        monkeypatch.setattr(storage, "store", storing)
        monkeypatch.setattr(pdf, "rewritten", merging)

    def restart(self) -> None:
        """Begin a story: nothing was bought, nothing fails."""
        self.sandbox.server.state.reset()
        for model in (WebhookEvent, Parcel, ShippingLabel):
            model.objects.all().delete()
        self.is_merging = True
        self.open_storage()
        clients.client.cache_clear()
        self.orders: list[Order] = []
        self.suspended: tuple[threading.Event, Order, Future[Response]] | None = None
        self.pool: Threads | None = None

    # --- What can go wrong ---

    def reach(self, place: str) -> None:
        planned = getattr(self.own, "plan", None)
        if planned and planned[0] == place:
            self.own.plan = None
            planned[1]()

    @contextmanager
    def killed(self, place: str | None) -> Iterator[None]:
        """Kill this process at a place, or at one of its commits, such as `1 instead` of it or `2 after` it."""
        number, _, when = (place or "").partition(" ")
        is_commit = number.isdecimal()
        commit = self.commits.planned(int(number) if is_commit else 0, when, die)
        with commit, self.interrupted(None if is_commit else place, die):
            yield

    @contextmanager
    def interrupted(self, place: str | None, act: Callable[[], object]) -> Iterator[None]:
        """Do something when this thread comes to a place, once; what is planned already stays so."""
        before = getattr(self.own, "plan", None)
        self.own.plan = (place, act) if place else before
        try:
            with suppress(Killed):
                yield
        finally:
            self.own.plan = None

    @contextmanager
    def meanwhile(self, place: str, act: Callable[[], object]) -> Iterator[None]:
        """Let another process act when this one comes to a place; what it finds wrong is raised at the end."""
        problems: list[AssertionError] = []

        def noting() -> None:
            try:
                act()
            except AssertionError as error:
                problems.append(error)

        with self.interrupted(place, noting):
            yield
        for problem in problems:
            raise problem

    def lose_row(self) -> None:
        ShippingLabel.objects.filter(state=LabelState.PURCHASING).delete()

    @contextmanager
    def failing(self, fault: str | None, **facts: Any) -> Iterator[None]:
        """Let the carrier fail once, in a way such as `closemade` or, for beta's second parcel, `30204@2`.

        `unnumbered` is an answer of alpha in which a parcel has no number; what is `late` is found after an hour.
        """
        name, _, rank = (fault or "").partition("@")
        self.is_unnumbered = name == "unnumbered"
        facts |= {"rank": int(rank)} if rank else {}
        facts |= {"delay_s": HOUR_S} if name == "late" else {}
        if fault and not self.is_unnumbered:
            self.sandbox.arm(name, count=1, **facts)
        try:
            yield
        finally:
            self.sandbox.disarm()
            self.is_unnumbered = False

    def close_storage(self) -> None:
        if not self.folder.is_file():
            if self.folder.exists():
                self.folder.rename(self.folder.with_name("away"))
            self.folder.write_text("no folder")

    def open_storage(self) -> None:
        if self.folder.is_file():
            self.folder.unlink()
            if self.folder.with_name("away").exists():
                self.folder.with_name("away").rename(self.folder)

    def restore(self, label: ShippingLabel) -> None:
        """Bring the database back to the moment at which the label's purchase was under way."""
        WebhookEvent.objects.filter(subject=label.id).delete()
        Parcel.objects.filter(id=label.id).delete()
        blank: dict[str, Any] = {"tracking_numbers": [], "reservation_number": "", "finished_at": None}
        ShippingLabel.objects.filter(id=label.id).update(state=LabelState.PURCHASING, **blank)

    def pass_time(self, seconds: float) -> None:
        pass_time(seconds)
        clients.client.cache_clear()  # circuit breakers have closed
        age(self.sandbox.made(), seconds)

    # --- What people and machines do ---

    def ask(self, wanted: Order) -> Response | None:
        """Order, or repeat an order; None where the process was killed."""
        answers: list[Response] = []
        with suppress(Killed):
            answers.append(post(self.buyer, wanted.body, key=wanted.key))
        return answers[0] if answers else None

    def suspend(self, wanted: Order, place: str) -> None:
        """Order in another process, which stops at a place until it is resumed."""
        reached, resumed = threading.Event(), threading.Event()

        def wait() -> None:
            reached.set()
            assert resumed.wait(JOIN_TIMEOUT_S)

        def run() -> Response:
            self.own.plan = (place, wait)
            try:
                return post(self.buyer, wanted.body, key=wanted.key)
            finally:
                reached.set()

        self.pool = Threads(1)
        self.suspended = (resumed, wanted, self.pool.submit(run))
        assert reached.wait(JOIN_TIMEOUT_S)

    def resume(self) -> tuple[Order, Response] | None:
        """Let the process that was stopped go on to its end."""
        if self.suspended is None or self.pool is None:
            return None
        resumed, wanted, future = self.suspended
        resumed.set()
        answer = future.result(JOIN_TIMEOUT_S)
        self.pool.shutdown()
        self.suspended = self.pool = None
        return wanted, answer

    def move(self, label: ShippingLabel, numbers: list[str]) -> None:
        """Let the carrier take these parcels in charge, and report it."""
        for number in numbers:
            self.sandbox.server.state.ledger.collected.add((label.carrier_code, number))
            event = TrackingEvent(number, "SC", timezone.now(), text="", status=Status.IN_TRANSIT)
            answer = TrackingAnswer(number, is_known=True, events=(event,))
            record(label.id, [answer], now=timezone.now())

    def end(self) -> None:
        """Bring everything up again, and let two days pass."""
        self.sandbox.disarm()
        self.open_storage()
        self.is_merging = True
        self.own.plan = None
        self.pass_time(4000)
        assert post(self.buyer, order(orderId=CONTROL)).status_code == 201
        for seconds in (0, 400, 4000, 90_000, 4000, 90_000):
            self.pass_time(seconds)
            reconcile()

    # --- What there is ---

    def rows(self, wanted: Order | None = None) -> list[ShippingLabel]:
        rows = ShippingLabel.objects.exclude(order_id=CONTROL).order_by("id")
        return list(rows.filter(order_id=wanted.id) if wanted else rows)

    def newest(self, wanted: Order) -> ShippingLabel | None:
        rows = self.rows(wanted)
        return rows[-1] if rows else None

    def made(self, label: ShippingLabel) -> list[Purchase]:
        return self.sandbox.made(label.id)

    def live(self, label: ShippingLabel) -> list[str]:
        """The numbers that alpha made and will bill, or that beta made."""
        return [each.tracking_number for each in self.made(label) if not self.sandbox.is_cancelled(each)]

    def found(self, label: ShippingLabel) -> list[str]:
        """The numbers that alpha's search shows by now."""
        made = self.made(label) if label.carrier_code == "alpha" else []
        return [each.tracking_number for each in made if each.findable_at_s <= time.time()]

    def live_own(self, label: ShippingLabel) -> list[str]:
        """The live numbers without those that the label leaves out: these are cancelled by and by."""
        return [number for number in self.live(label) if number not in label.surplus_numbers]

    def told(self) -> dict[str, list[WebhookEvent]]:
        """Return the webhooks of each label, in order."""
        found: dict[str, list[WebhookEvent]] = defaultdict(list)
        for event in WebhookEvent.objects.filter(type__startswith="label.").order_by("id"):
            found[event.subject].append(event)
        return found
