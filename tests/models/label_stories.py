"""Stories of several steps that a walk seldom makes, each told in one rule; between its steps the sentences hold."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import StringIO
from shutil import rmtree
from typing import Any
from unittest.mock import patch

from django.core.management import CommandError, call_command
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from labels.models import LabelState, ShippingLabel
from labels.pdfs import receipts
from tests.labels.interruptions import CANCEL, moment
from tests.labels.orders import RECIPIENT
from tests.models.label_carriers import behind, make_one_more
from tests.models.label_life import ANSWERS, FAULTS, KILLS, PLACES, QUESTIONS, LabelLife, numbers
from tests.models.label_ways import Way, ways
from tests.models.label_world import World

NEWEST = -1
carriers = st.sampled_from(["alpha", "beta"])
counts = st.integers(1, 3)
few = st.sampled_from([1, 1, 1, 2, 3])  # a fault is one parcel's
faults = st.integers(0, 9)
answers = st.sampled_from(ANSWERS)
waits_s = st.sampled_from([0, 400, 2000, 4000, 90_000])


@contextmanager
def restored(world: World, *, is_erased: bool) -> Iterator[None]:
    """Restore the database to the moment before the block, and recover; maybe the customer is erased before that."""
    world.open_storage()
    rmtree(world.folder / receipts.ROOT, ignore_errors=True)  # earlier stories' receipts
    for row in ShippingLabel.objects.all():
        receipts.write(row)  # as old as the row, by which time has passed
    restore = moment()
    yield
    if is_erased:
        # No process writes a receipt now, and a label of theirs may not be over.
        with patch("labels.personal_data.erasure.sleep"), suppress(CommandError):
            call_command("erase_customer", world.buyer.shop.id, RECIPIENT["email"], stdout=StringIO())
    restore()
    call_command("recover", stdout=StringIO())


class LabelStories(LabelLife):
    """Adds longer stories to the rules, and begins each with ways to rows of the table."""

    @initialize(ways=ways)
    def begin(self, ways: list[Way]) -> None:
        super().begin()
        for name, arguments in ways:
            getattr(self, name)(**arguments)
            self.holds()

    @rule(
        carrier=carriers,
        count=counts,
        fault=faults,
        place=st.sampled_from([None, *KILLS]),
        seconds=waits_s,
        question=st.sampled_from(QUESTIONS),
        is_blind=st.booleans(),
    )
    def settle(
        self, seconds: int, question: tuple[str, str] | None = None, *, is_blind: bool = False, **order: Any
    ) -> None:
        """An order goes wrong, time passes, and the carrier is asked."""
        self.order(**order)
        self.let_pass(seconds)
        self.reconcile(question, is_blind=is_blind)

    @rule(carrier=carriers, count=counts, fault=faults, seconds=waits_s, left_out=st.integers(0, 2))
    def adopt_order(self, carrier: str, count: int, fault: int, seconds: int, left_out: int) -> None:
        """An order goes wrong, and a person adopts what was made."""
        self.order(carrier=carrier, count=count, fault=fault)
        self.let_pass(seconds)
        self.adopt(which=NEWEST, left_out=left_out)

    @rule(carrier=carriers, count=counts, fault=faults, seconds=waits_s)
    def give_up(self, carrier: str, count: int, fault: int, seconds: int) -> None:
        """An order goes wrong, and a person finds that nothing is left of it."""
        self.order(carrier=carrier, count=count, fault=fault)
        self.let_pass(seconds)
        self.mark_as_not_made(which=NEWEST)

    @precondition(lambda self: self.world.suspended is None)
    @rule(count=counts, fault=faults)
    def find_nothing(self, count: int, fault: int) -> None:
        """An order goes wrong among others, and alpha's search is late with it, or behind, or has nothing to find."""
        self.order(carrier="alpha", count=1)
        self.order_elsewhere(carrier="alpha", count=count, place="before the carrier")
        self.order(carrier="alpha", count=1)
        known = len(self.world.sandbox.made())
        with self.world.failing(self.fault("alpha", fault)):
            self.resume()
        self.let_pass(2000)
        for carrier in ("beta", "alpha"):
            self.order(carrier=carrier, count=1)
        self.reconcile()
        self.let_pass(2000)
        with behind(self.world.sandbox, known):
            self.reconcile()
        self.let_pass(400)
        self.reconcile()

    @rule()
    def find_one_more(self) -> None:
        """Alpha has made a parcel more than was ordered; later its search does not show that one."""
        self.order(carrier="alpha", count=1, fault=FAULTS["alpha"].index("closemade"))
        row = self.world.newest(self.world.orders[NEWEST])
        if row is None or not self.world.made(row):
            return
        make_one_more(self.world.sandbox, self.world.made(row)[0])
        self.let_pass(4000)
        self.reconcile()
        self.let_pass(4000)
        with behind(self.world.sandbox, len(self.world.sandbox.made()) - 1):
            self.reconcile()
            self.holds()

    @rule(carrier=carriers, count=counts)
    def restore_order(self, carrier: str, count: int) -> None:
        """A shop has a label that the database forgets."""
        self.order(carrier=carrier, count=count)
        self.restore(which=NEWEST)

    @precondition(lambda self: self.world.suspended is None)
    @rule(carrier=carriers, count=counts, fault=faults, is_erased=st.booleans())
    def recover(self, carrier: str, count: int, fault: int, is_erased: bool) -> None:
        """An order was in doubt at the moment that is restored; since then it was settled and repeated."""
        self.order(carrier=carrier, count=count, fault=fault)
        wanted = self.world.orders[-1]
        self.let_pass(4000)
        self.order(carrier=carrier, count=1)
        with restored(self.world, is_erased=is_erased):
            self.reconcile()
            self.note(wanted, self.world.ask(wanted))
            self.holds()

    @rule(count=st.integers(2, 3), left_out=st.integers(0, 2), is_adopted=st.booleans())
    def refuse_part(self, count: int, left_out: int, is_adopted: bool) -> None:
        """The second of several parcels is refused; a person adopts the first, or the order settles itself."""
        self.order(carrier="beta", count=count, fault=FAULTS["beta"].index("30204@2"))
        self.let_pass(400 if is_adopted else 2000)
        if is_adopted:
            self.adopt(which=NEWEST, left_out=left_out)
        else:
            self.reconcile()

    @precondition(lambda self: self.world.suspended is None)
    @rule(carrier=carriers, count=counts, place=st.sampled_from(PLACES), seconds=waits_s, again=st.booleans())
    def answer_late(self, carrier: str, count: int, place: str, seconds: int, again: bool) -> None:
        """A process stands still while its order is settled, and maybe ordered again, and then goes on."""
        self.order_elsewhere(carrier=carrier, count=count, place=place)
        self.let_pass(seconds)
        self.reconcile()
        self.let_pass(seconds)
        self.reconcile()
        self.holds()
        if again:
            self.repeat(which=NEWEST)
            self.holds()
        self.resume()

    @rule(count=few, answer=st.sampled_from([*ANSWERS, "2", "2"]), is_handed_in=st.booleans(), again=answers)
    def cancel_again(self, count: int, answer: str | None, is_handed_in: bool, again: str | None) -> None:
        """A cancellation has no answer, or not yet, and is asked for again."""
        self.begin_cancellation(count, answer, is_handed_in=is_handed_in)
        self.let_pass(400)
        self.reconcile(again and (CANCEL, again))

    @rule(count=few, answer=st.sampled_from(["2", "close", "closemade"]), is_handed_in=st.booleans(), seconds=waits_s)
    def decide_cancellation(self, count: int, answer: str, is_handed_in: bool, seconds: int) -> None:
        """A cancellation has no answer, or not yet, and a person decides."""
        self.begin_cancellation(count, answer, is_handed_in=is_handed_in)
        self.let_pass(seconds)
        self.end_cancellation(which=NEWEST)

    def begin_cancellation(self, count: int, answer: str | None, *, is_handed_in: bool) -> None:
        self.order_and_cancel(carrier="alpha", count=count, answer=answer)
        self.holds()
        if is_handed_in:
            self.hand_in(which=NEWEST, only=None if answer == "close" else 0)

    @rule(
        count=st.integers(2, 3),
        left_out=st.integers(0, 2),
        seconds=waits_s,
        answer=answers,
        is_handed_in=st.booleans(),
        again=answers,
    )
    def cancel_part(
        self, count: int, left_out: int, seconds: int, answer: str | None, is_handed_in: bool, again: str | None
    ) -> None:
        """A part of an order was adopted, and is cancelled before or after what was left out."""
        self.adopt_order(
            carrier="alpha", count=count, fault=FAULTS["alpha"].index("nolabel"), seconds=400, left_out=left_out
        )
        self.let_pass(seconds)
        if seconds:
            self.reconcile()
        self.cancel(which=NEWEST, answer=answer)
        self.holds()
        if is_handed_in:
            self.hand_in(which=NEWEST)
        self.let_pass(400)
        self.reconcile(again and (CANCEL, again))
        self.end_cancellation(which=NEWEST)

    @rule(early=st.integers(1, 2), only=st.integers(0, 2), is_last_taken=st.booleans())
    def cancel_in_part(self, early: int, only: int, is_last_taken: bool) -> None:
        """Some parcels can't be cancelled yet, or any more: once one is cancelled, all others are that can be."""
        self.order(carrier="alpha", count=3)
        row = self.world.newest(self.world.orders[NEWEST])
        if row is None or row.state != LabelState.GENERATED:
            return
        taken = {row.tracking_numbers[2]} if is_last_taken else set()  # and not reported yet
        for number in taken:
            self.world.sandbox.server.state.ledger.collected.add(("alpha", number))
        self.world.sandbox.arm("2", count=early, operation=CANCEL)
        self.ask_to_cancel(row)
        self.world.sandbox.disarm()
        live = self.world.live_own(row)
        moved = live[only % len(live)]
        self.world.move(row, [moved])
        self.let_pass(400)
        self.reconcile()
        row.refresh_from_db()
        left = {*self.world.live_own(row)} - {moved, *taken}
        assert not (row.is_cancelled_in_part and left), f"a parcel of the label is cancelled, and {left} can be"

    @precondition(lambda self: self.world.orders)
    @rule(
        first=st.sampled_from(["order", "repeat", "reconcile", "cancel", "adopt"]),
        second=st.sampled_from(["repeat", "reconcile", "cancel", "adopt", "not made", "end", "hand in", "settle"]),
        place=st.sampled_from(PLACES),
        carrier=carriers,
        which=numbers,
        other=numbers,
        answer=answers,
    )
    def meanwhile(
        self, first: str, second: str, place: str, carrier: str, which: int, other: int, answer: str | None
    ) -> None:
        """While a process waits for a carrier or the storage, another one does something; then the first goes on."""
        acts: dict[str, Any] = {
            "order": partial(self.order, carrier=carrier, count=1 + which % 3),
            "repeat": partial(self.repeat, which=which),
            "reconcile": partial(self.reconcile, answer and (CANCEL, answer)),
            "cancel": partial(self.cancel, which=which, answer=answer),
            "adopt": partial(self.adopt, which=which, left_out=other),
        }
        others: dict[str, Any] = {
            "repeat": partial(self.repeat, which=other),
            "reconcile": self.reconcile,
            "cancel": partial(self.cancel, which=other),
            "adopt": partial(self.adopt, which=other, left_out=which),
            "not made": partial(self.mark_as_not_made, which=other),
            "end": partial(self.end_cancellation, which=other),
            "hand in": partial(self.hand_in, which=other),
            "settle": self.settle_all,
        }
        with self.world.meanwhile(place, others[second]):
            acts[first]()

    def settle_all(self) -> None:
        for seconds in (2000, 90_000):
            self.world.pass_time(seconds)
            self.reconcile()

    def let_pass(self, seconds: int) -> None:
        self.holds()
        self.world.pass_time(seconds)
