"""The lives of numbers, parcels and deliveries as a state machine: imports, labels, carriers, endpoints and time."""

import sys
from collections.abc import Collection
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.labels.interruptions import CANCEL
from tests.models import product
from tests.models.delivery_life import NO_KILL, DeliveryLife, kills, shops
from tests.models.interruptions import die, host_clock
from tests.models.parcel_rules import Oracle
from tests.models.parcel_world import MINUTE_MS, Label, Shop
from tests.support.threads import Elsewhere, in_threads

CODES = {
    "alpha": ["DC", "SC", "TA", "AB", "P", "SK", "D", "D", "R", "SM"],
    "beta": ["PCHMQT", "PCHCFM", "PRELIV", "AARBPR", "RENARV", "AARLIB", "LIVCFM", "LIVCFM", "RENNPA"],
}
REPORTED = [None, None, "FULFILLED", "IN_TRANSIT", "DELIVERED", "RETURN_TO_SENDER"]
HOUR_S, DAY_S = 3600, 86_400
# At the end: everything is asked about more than once, and tried again.
END_S = [0, 2 * HOUR_S, *([27 * HOUR_S] * 3), 2 * HOUR_S]
ranks = st.integers(0, 11)
cases = st.integers(0, 9)
lines = st.lists(
    st.tuples(st.integers(0, 3), st.lists(ranks, min_size=1, max_size=3), st.sampled_from(REPORTED)),
    min_size=1,
    max_size=2,
    unique_by=lambda line: line[0],
)


class ParcelLife(DeliveryLife):
    """Plays with two shops' parcels; a subclass gives the world."""

    @initialize()
    def begin(self) -> None:
        self.world.restart()
        self.oracle = Oracle(self.world)
        self.imported: list[str] = []

    def teardown(self) -> None:
        """Whatever happened: in the end everything is known, told and gone that should be."""
        if hasattr(self, "oracle") and sys.exc_info()[0] is None:  # else the story has failed
            self.end()

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "oracle"):
            self.oracle.check(self.imported)
            self.imported = []

    # --- The shops ---

    @rule(shop=shops, wanted=lines, is_ahead=st.booleans(), case=cases)
    def import_parcels(self, shop: int, wanted: list[Any], case: int = 0, *, is_ahead: bool = False) -> None:
        """Import one or two parcels; some reports are late, and some imports are killed, and change nothing."""
        own = self.shop(shop)
        made = self.lines(own, wanted, is_ahead=is_ahead, is_late=case == 8)
        is_killed = case == 9
        with self.world.commits.planned(int(is_killed), "instead", die):
            self.world.import_lines(own, made)
        if not is_killed:
            self.note_import(own, made)

    @rule(shop=shops, carrier=st.sampled_from(product.CARRIERS), count=st.sampled_from([1, 2, 2, 3]), case=cases)
    def buy(self, shop: int, carrier: str, count: int, case: int = 0) -> None:
        self.world.buy(self.shop(shop), carrier, count, "closemade" if case > 7 else None)

    @rule(which=ranks)
    def adopt(self, which: int) -> None:
        if chosen := self.label(which, "open"):
            self.world.staff.adopt(chosen[1].id, chosen[1].numbers)

    @rule(which=ranks, answer=st.sampled_from([None, None, None, "2", "3", "close"]))
    def cancel(self, which: int, answer: str | None) -> None:
        if chosen := self.label(which, "bought"):
            self.cancel_label(chosen[1], answer)

    def cancel_label(self, label: Label, answer: str | None) -> None:
        if answer:
            self.world.sandbox.arm(answer, count=1, operation=CANCEL)
        product.cancel(label.id)
        self.world.sandbox.disarm()

    @rule(shop=shops, which=st.integers(0, 5))
    def erase(self, shop: int, which: int) -> None:
        """Erase the customer of a parcel that the shop imported."""
        own = self.shop(shop)
        if not own.lines:
            return
        line = list(own.lines.values())[which % len(own.lines)]
        if product.erase(own.id, line.email):
            own.erased.add(line.needle)
            self.oracle.check_erased()

    # --- The carriers ---

    @rule(shop=shops, which=ranks, codes=st.lists(cases, min_size=1, max_size=2), is_late=st.booleans())
    def happen(self, shop: int, which: int, codes: list[int], is_late: bool) -> None:
        own = self.shop(shop)
        numbers = own.numbers()
        number = numbers[-1 - which % len(numbers)]
        label = own.label_with(number)
        if label is None or label.is_sold():
            of_carrier = CODES[own.carrier_of(number)]
            for code in codes:
                self.world.happen(own, number, of_carrier[code % len(of_carrier)], is_late=is_late)

    @rule(
        seconds=st.sampled_from([0, 2 * HOUR_S, 27 * HOUR_S, 27 * HOUR_S, 5 * DAY_S]),
        faulty=st.sets(ranks, max_size=2),
        kill=kills,
    )
    def look(self, seconds: int, faulty: Collection[int] = (), kill: tuple[int, str] = NO_KILL) -> None:
        """Let time pass, and ask the carriers; some numbers can't be answered, and some passes are killed."""
        self.pass_time(seconds)
        numbers = [number for shop in self.world.shops for number in shop.numbers()]
        self.world.carriers.faults = {numbers[-1 - each % len(numbers)] for each in faulty}
        self.ask(kill)
        self.world.carriers.faults = set()
        self.world.forget_clients()

    @rule(seconds=st.sampled_from([2 * HOUR_S, 27 * HOUR_S, 6 * DAY_S, 20 * DAY_S]))
    def wait(self, seconds: int) -> None:
        self.pass_time(seconds)
        product.reconcile_labels()

    def ask(self, kill: tuple[int, str] = NO_KILL) -> None:
        self.world.carriers.answered.clear()
        with self.world.commits.planned(*kill, die):
            product.ask_carriers()
        self.world.note_states()
        for shop in self.world.shops:
            if not kill[0]:
                self.oracle.check_answered(shop, self.world.carriers.answered)
        self.note_kill(kill)

    # --- At the same time ---

    @rule(shop=shops, wanted=lines, other=lines, case=st.integers(0, 8))
    def import_meanwhile(self, shop: int, wanted: list[Any], other: list[Any], case: int) -> None:
        """While an import is about to commit, another process does something."""
        own = self.shop(shop)
        made, others = self.lines(own, wanted), self.lines(own, other)
        acts: list[Any] = [
            partial(self.world.import_lines, own, others),
            partial(self.world.import_lines, own, others),
            product.ask_carriers,
            product.deliver,
            product.reconcile_labels,
            partial(self.world.buy, own, "alpha", 2),
            partial(self.world.buy, own, "beta", 1),
            *(partial(product.cancel, label.id) for label in own.labels[-1:]),
            *(partial(self.erase, shop, parcel) for parcel in (0, 1)),
        ]
        elsewhere = Elsewhere(acts[case % len(acts)])
        with self.world.commits.planned(1, "before", elsewhere.begin):
            self.world.import_lines(own, made)
        elsewhere.join()
        self.note_import(own, made)
        if case < 2:
            self.note_import(own, others)
        self.world.note_states()

    @rule(shop=shops, wanted=lines, seconds=st.sampled_from([0, 27 * HOUR_S]))
    def ask_meanwhile(self, shop: int, wanted: list[Any], seconds: int) -> None:
        """While a carrier is asked, the shop imports."""
        own = self.shop(shop)
        made = self.lines(own, wanted)
        self.pass_time(seconds)
        done: list[bool] = []

        def once() -> None:
            if not done:
                done.append(True)
                elsewhere = Elsewhere(partial(self.world.import_lines, own, made))
                elsewhere.begin()
                elsewhere.join()

        self.world.carriers.before = once
        product.ask_carriers()
        self.world.carriers.before = lambda: None
        if done:
            self.note_import(own, made)

    @rule(what=st.sampled_from(["ask", "deliver"]), seconds=st.sampled_from([0, 27 * HOUR_S]))
    def two_processes(self, what: str, seconds: int) -> None:
        self.pass_time(seconds)
        act = product.ask_carriers if what == "ask" else product.deliver
        in_threads(2, lambda _: act())

    @precondition(lambda self: self.world.has_two_clocks)
    @rule(shop=shops, wanted=lines, seconds=st.sampled_from([-600, 600]))
    def differ(self, shop: int, wanted: list[Any], seconds: int) -> None:
        """A host's clock is off: what it writes is delivered at once all the same."""
        own = self.shop(shop)
        made = self.lines(own, wanted)
        with host_clock(seconds):
            self.world.import_lines(own, made)
        self.note_import(own, made)
        product.deliver()
        self.check_told()

    # --- The end ---

    def end(self) -> None:
        for shop in self.world.shops:
            self.heal(shop)
        for seconds in END_S:
            self.pass_time(seconds)
            product.reconcile_labels()
            self.ask()
            product.deliver()
        self.oracle.check()
        self.oracle.check_learned()
        for shop in self.world.shops:
            self.oracle.check_same(shop)
            self.oracle.check_told(shop, shop.steady, is_drained=True)
            self.oracle.check_told(shop, shop.moody, is_drained=not shop.moody.may_be_late)
        self.oracle.check_isolated()
        self.oracle.check_erased()

    # ---

    def label(self, which: int, state: str) -> tuple[Shop, Label] | None:
        found = [(shop, label) for shop in self.world.shops for label in shop.labels if label.state == state]
        return found[which % len(found)] if found else None

    def lines(
        self, shop: Shop, wanted: list[Any], *, is_ahead: bool = False, is_late: bool = False
    ) -> list[dict[str, Any]]:
        made = []
        for rank, numbers, status in wanted:
            at = self.world.next_minute() - 7 * MINUTE_MS // 2 * is_late
            fields: dict[str, Any] = {"lastStatus": status, "lastStatusUpdatedAt": at} if status else {}
            line = self.world.line(shop, shop.ids[rank], self.numbers(shop, numbers), **fields)
            known = shop.lines.get(shop.ids[rank])
            line["updatedAt"] = max(line["updatedAt"] + 10 * MINUTE_MS * is_ahead, known.updated_at + 1 if known else 0)
            made.append(line)
        return made

    def numbers(self, shop: Shop, chosen: list[int]) -> list[str]:
        """Return numbers of one carrier, or of labels: the newest of these first."""
        known = shop.numbers()
        found = list(dict.fromkeys(known[-1 - each % len(known)] for each in chosen))
        carrier = shop.carrier_of(found[0])
        return [each for each in found if shop.label_with(each) or shop.carrier_of(each) == carrier]

    def note_import(self, shop: Shop, made: list[dict[str, Any]]) -> None:
        self.world.note_import(shop, made)
        self.imported += [line["id"] for line in made]
