"""A label's life as a state machine: orders, faults, kills, time, reconciliation, cancellations and decisions."""

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from labels.lifecycle import cancelling, decisions
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from tests.labels.factories import PDF
from tests.labels.interruptions import CANCEL, PRINT, SEARCH
from tests.models.label_rules import CANCELLATION, OPEN, Oracle
from tests.models.label_world import Order, World
from tests.support.api import Response

FAULTS = {
    "alpha": [None, "closemade", "close", "nolabel", "twin", "late", "38", "1", "unnumbered", "collected"],
    "beta": [None, "closemade", "close", "nolabel", "html503", "30204", "30204@2", "closemade@2", "nolabel@2", "twin"],
}
PLACES = ["before the carrier", "after the carrier", "before the storage", "after the storage"]
KILLS = [*PLACES, "before the reservation", "after the reservation", "1 instead", "1 after", "2 instead", "2 after"]
QUESTIONS = [None, (SEARCH, "close"), (PRINT, "nolabel"), *((CANCEL, fault) for fault in ("1", "2", "3", "close"))]
ANSWERS = [None, None, "closemade", "close", "soapfault", "1", "2", "3", "30"]
numbers = st.integers(0, 5)


class LabelLife(RuleBasedStateMachine):
    """Plays with one shop's labels; a subclass gives the world."""

    world: World

    @initialize()
    def begin(self) -> None:
        self.world.restart()
        self.oracle = Oracle(self.world)

    def teardown(self) -> None:
        """Whatever happened: in the end everything is the shop's, or free, or a person's."""
        if not hasattr(self, "oracle"):
            return
        self.resume()
        self.world.end()
        self.oracle.check_settled()
        self.world.restart()

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "oracle"):
            self.oracle.check()

    # --- The shop ---

    @rule(
        carrier=st.sampled_from(["alpha", "beta"]),
        count=st.integers(1, 3),
        fault=st.integers(0, 9),
        place=st.sampled_from([None, None, *KILLS, "row lost"]),
    )
    def order(self, carrier: str, count: int, fault: int = 0, place: str | None = None) -> None:
        wanted = Order(f"{len(self.world.orders)}", carrier, list(range(1, count + 1)))
        self.world.orders.append(wanted)
        with self.world.failing(self.fault(carrier, fault)), self.interrupted(place):
            self.note(wanted, self.world.ask(wanted))

    @rule(carrier=st.sampled_from(["alpha", "alpha", "beta"]), count=st.integers(1, 2), answer=st.sampled_from(ANSWERS))
    def order_and_cancel(self, carrier: str, count: int, answer: str | None) -> None:
        """Order without a fault, and think better of it."""
        self.order(carrier=carrier, count=count)
        row = self.world.newest(self.world.orders[-1])
        if row:
            with self.world.failing(answer, operation=CANCEL):
                self.ask_to_cancel(row)

    def ask_to_cancel(self, row: ShippingLabel) -> None:
        """A request that is refused has changed nothing."""
        before = row.state
        try:
            cancelling.cancel(row)
        except cancelling.CancelError:
            row.refresh_from_db()
            assert row.state == before, f"it is not cancelled, staff hear, and it is {row.state}"

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers, fault=st.integers(0, 9), place=st.sampled_from([None, None, *KILLS]))
    def repeat(self, which: int, fault: int = 0, place: str | None = None) -> None:
        wanted = self.chosen(which)
        with self.world.failing(self.fault(wanted.carrier, fault)), self.interrupted(place):
            self.note(wanted, self.world.ask(wanted))

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers)
    def order_otherwise(self, which: int) -> None:
        """The same key with another body buys nothing while the key is held."""
        wanted = self.chosen(which)
        is_held = ShippingLabel.objects.filter(idempotency_key=wanted.key).exists()
        if is_held:
            other = Order(wanted.id, wanted.carrier, [*wanted.weights_kg, 9][1:], wanted.keys)
            answer = self.world.ask(other)
            assert answer is not None
            assert answer.status_code in {409, 422}

    @precondition(lambda self: self.world.suspended is None)
    @rule(carrier=st.sampled_from(["alpha", "beta"]), count=st.integers(1, 2), place=st.sampled_from(PLACES))
    def order_elsewhere(self, carrier: str, count: int, place: str) -> None:
        """A process that stops for as long as it takes."""
        wanted = Order(f"{len(self.world.orders)}", carrier, list(range(1, count + 1)))
        self.world.orders.append(wanted)
        self.world.suspend(wanted, place)

    @precondition(lambda self: self.world.suspended is not None)
    @rule()
    def resume(self) -> None:
        resumed = self.world.resume()
        if resumed:
            self.note(*resumed)

    def note(self, wanted: Order, answer: Response | None) -> None:
        """Do as the answer says."""
        if answer is None:
            return
        body = answer.json()
        if answer.status_code == 201:
            wanted.given.add(body["id"])
        if body.get("code") == "LABEL_CANCELLED":
            states = {row.state for row in self.world.rows(wanted) if row.idempotency_key == wanted.key}
            assert states == {LabelState.CANCELLED}, f"order another, it says, and the label is {states}"
            wanted.keys += 1

    # --- Time and machines ---

    @rule(seconds=st.sampled_from([400, 2000, 4000, 90_000]))
    def pass_time(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    @rule(question=st.sampled_from(QUESTIONS), is_blind=st.booleans(), place=st.sampled_from([None, None, *KILLS]))
    def reconcile(
        self, question: tuple[str, str] | None = None, place: str | None = None, *, is_blind: bool = False
    ) -> None:
        if is_blind:
            self.world.sandbox.arm("unfound", operation=SEARCH, delay_s=10**6)
        operation, fault = question or (None, None)
        facts = {"operation": operation} if operation else {}
        with self.world.failing(fault, **facts), self.interrupted(place):
            reconcile()

    @rule()
    def close_storage(self) -> None:
        self.world.close_storage()

    @rule()
    def open_storage(self) -> None:
        self.world.open_storage()

    @rule(is_merging=st.booleans())
    def merge(self, is_merging: bool) -> None:
        self.world.is_merging = is_merging

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers)
    def restore(self, which: int) -> None:
        """The database goes back to a moment at which the purchase was under way; the storage does not."""
        row = self.world.newest(self.chosen(which))
        is_stored = row and row.state == LabelState.GENERATED and not (row.decided_at or row.addresses_removed_at)
        if row and is_stored and row.id not in self.oracle.moved and not self.world.folder.is_file():
            self.oracle.restored.add(row.id)
            self.world.restore(row)

    # --- The carrier and the staff ---

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers, only=st.sampled_from([None, None, 0, 1, 2]))
    def hand_in(self, which: int, only: int | None = None) -> None:
        """Hand parcels in, or one of several, also those that are to be cancelled and are not yet."""
        row = self.one_of(which, {LabelState.GENERATED, *CANCELLATION})
        live = self.world.live_own(row) if row else []
        if row and live and (only is not None or len(live) == len(row.tracking_numbers)):
            if row.state == LabelState.GENERATED:
                self.oracle.moved.add(row.id)
            self.world.move(row, live if only is None else [live[only % len(live)]])

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers, answer=st.sampled_from(ANSWERS), place=st.sampled_from([None, None, *KILLS]))
    def cancel(self, which: int, answer: str | None = None, place: str | None = None) -> None:
        row = self.one_of(which, {LabelState.GENERATED})
        if row is None:
            return
        with self.world.failing(answer, operation=CANCEL), self.interrupted(place), suppress(cancelling.CancelError):
            cancelling.cancel(row)

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers)
    def end_cancellation(self, which: int) -> None:
        """A person looks at the carrier's portal and says what is true."""
        row = self.one_of(which, CANCELLATION)
        if row:
            live = self.world.live_own(row)
            gone = [number for number in row.tracking_numbers if number not in live]
            if live:
                self.decide(lambda: decisions.keep(label=row, cancelled=gone))
            else:
                self.decide(lambda: decisions.mark_as_cancelled(label=row))

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers, left_out=st.integers(0, 2))
    def adopt(self, which: int, left_out: int) -> None:
        """A person adopts the parcels that were made, or some of them."""
        row = self.one_of(which, OPEN)
        if not row:
            return
        made, ordered = self.world.live(row), len(row.weights_kg)
        adopted = [*made, *[""] * ordered][:ordered]
        known = {*row.tracking_numbers, *self.world.found(row)}
        if left_out < ordered > 1 and adopted[left_out] in known:
            adopted[left_out] = ""
        if any(adopted) and {*made} - {*adopted} <= known:  # else what is left would be nobody's
            self.decide(lambda: decisions.adopt(label=row, tracking_numbers=adopted, pdf=PDF))

    @precondition(lambda self: self.world.orders)
    @rule(which=numbers)
    def mark_as_not_made(self, which: int) -> None:
        """A person, who may be wrong about parcels that nobody knows a number of, finds that none is left."""
        row = self.one_of(which, OPEN)
        is_right = row and (row.carrier_code == "beta" or not (row.tracking_numbers and self.world.live(row)))
        if row and is_right and row.id not in self.oracle.restored:
            self.decide(lambda: decisions.mark_as_not_made(label=row))

    def decide(self, decision: Callable[[], Any]) -> None:
        with suppress(decisions.DecisionError):
            decision()

    # ---

    def fault(self, carrier: str, rank: int) -> str | None:
        """Choose a fault; a number is given out twice within an order only, as two labels with one are one parcel."""
        fault = FAULTS[carrier][rank]
        return None if fault == "twin" and self.world.sandbox.made() else fault

    def one_of(self, which: int, states: Collection[str]) -> ShippingLabel | None:
        """Choose one of the labels in these states."""
        rows = [row for row in self.world.rows() if row.state in states]
        return rows[which % len(rows)] if rows else None

    def chosen(self, which: int) -> Order:
        return self.world.orders[which % len(self.world.orders)]

    def interrupted(self, place: str | None) -> Any:
        if place == "row lost":
            return self.world.interrupted("before the carrier", self.world.lose_row)
        return self.world.killed(place)
