"""Stories of several steps that a walk seldom makes, each told in one rule; between its steps the sentences hold."""

from threading import Timer

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.models import product
from tests.models.delivery_life import shops
from tests.models.parcel_life import HOUR_S, ParcelLife
from tests.models.parcel_world import LEASE_S, Label

DELIVERED = {"alpha": "D", "beta": "LIVCFM"}
# Longer than deliveries are looked for again, and not so long that an endpoint counts as slow.
ANSWERS_AFTER_S = 0.7
counts = st.integers(1, 3)
parcels = st.integers(0, 3)
carriers = st.sampled_from(product.CARRIERS)
answers = st.sampled_from([None, None, "1", "2", "3", "close"])
works = st.sampled_from(["ask", "deliver"])


class ParcelStories(ParcelLife):
    """Adds longer stories to the rules."""

    @rule(shop=shops, carrier=carriers, count=counts, parcel=parcels, named=st.integers(1, 2), answer=answers)
    def cancel_imported(self, shop: int, carrier: str, count: int, parcel: int, named: int, answer: str | None) -> None:
        """The shop reports a parcel with some of a label's numbers, cancels the label and sends it with another."""
        label = self.buy_and_import(shop, carrier, count, parcel, named)
        self.cancel_label(label, answer)
        self.holds()
        again = self.buy_and_import(shop, carrier, 1, parcel, 1)
        if again.is_sold():
            self.world.happen(self.shop(shop), again.numbers[0], DELIVERED[carrier], is_late=False)
        self.look(seconds=27 * HOUR_S)

    @rule(shop=shops, one=parcels, other=parcels)
    def adopt_imported(self, shop: int, one: int, other: int) -> None:
        """The shop reports the numbers of an order in doubt, on one parcel or on two, and a person adopts the order."""
        own = self.shop(shop)
        self.world.buy(own, "alpha", 2, "closemade")
        lines = [(parcel, [number], None) for parcel, number in {one: 0, other: 1}.items()]
        self.import_parcels(shop, lines)
        self.world.staff.adopt(own.labels[-1].id, own.labels[-1].numbers)

    @rule(shop=shops, carrier=carriers, giver=parcels, taker=parcels, case=st.integers(0, 3))
    def hand_over(self, shop: int, carrier: str, giver: int, taker: int, case: int) -> None:
        """One of a parcel's two numbers becomes another parcel's: the taker comes first or last, in one file or two."""
        own = self.shop(shop)
        if giver == taker:
            return
        self.buy_and_import(shop, carrier, 2, giver, 2)
        lines = [(taker, [0], None), (giver, [1], None)]
        if case % 2:
            lines.reverse()
        for some in [lines] if case < 2 else [[line] for line in lines]:
            self.import_parcels(shop, some)
            self.holds()
        for number in own.labels[-1].numbers:
            self.world.happen(own, number, DELIVERED[carrier], is_late=False)
            self.look(seconds=2 * HOUR_S)
            self.holds()

    @rule(shop=shops, parcel=parcels, number=st.integers(0, 3), what=works, times=st.integers(1, 2))
    def die_at_work(self, shop: int, parcel: int, number: int, what: str, times: int) -> None:
        """A process dies with what it had claimed: another does it when the lease is over."""
        own = self.shop(shop)
        self.import_parcels(shop, [(parcel, [-1 - number], "IN_TRANSIT")])
        number_ = own.lines[own.ids[parcel]].numbers[0]
        self.world.happen(own, number_, DELIVERED[own.carrier_of(number_)], is_late=False)
        for _ in range(times):
            if what == "deliver":
                self.deliver(kill=(1, "after"))
            else:
                self.look(seconds=0, kill=(1, "after"))
        self.pass_time(LEASE_S)
        self.ask()
        self.deliver()

    @rule(shop=shops, parcel=parcels)
    def answer_slowly(self, shop: int, parcel: int) -> None:
        """An endpoint takes its time for the first of two events of a parcel: the second one goes right after it."""
        own = self.shop(shop)
        for status in ("OUT_FOR_DELIVERY", "IN_TRANSIT"):
            self.import_parcels(shop, [(parcel, [-1], status)])
            self.holds()
        own.steady.receiver.hang()
        Timer(ANSWERS_AFTER_S, own.steady.receiver.release).start()
        self.deliver()

    @rule(shop=shops, parcel=parcels)
    def let_go(self, shop: int, parcel: int) -> None:
        """Staff take a number off a parcel."""
        own = self.shop(shop)
        line = own.lines.get(own.ids[parcel])
        if line and len(line.numbers) > 1 and not own.label_with(line.numbers[-1]):
            product.let_go(own.ids[parcel], line.numbers.pop())

    @rule()
    def remove_old(self) -> None:
        """Retention removes what every endpoint has."""
        for shop in self.world.shops:
            self.heal(shop)
        product.remove_old()

    def buy_and_import(self, shop: int, carrier: str, count: int, parcel: int, named: int) -> Label:
        """Buy a label, and report a parcel with so many of its numbers."""
        own = self.shop(shop)
        self.buy(shop=shop, carrier=carrier, count=count)
        self.holds()
        self.import_parcels(shop, [(parcel, list(range(min(named, count))), None)])
        self.holds()
        return own.labels[-1]
