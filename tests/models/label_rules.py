"""The sentences of the design that hold of labels whatever happens; the carriers' ledger is the witness."""

import json
from datetime import datetime, timedelta

from django.utils import timezone

from labels.lifecycle.states import Event
from labels.models import LabelState, ShippingLabel
from shops.webhooks.models import WebhookEvent
from tests.models.label_world import Order, World
from tests.support.paths import PARCELS, SHIPMENTS

CANCELLATION = {LabelState.CANCELLING, "cancel_unknown"}
OPEN = {LabelState.PURCHASING, LabelState.RECEIVED, LabelState.UNKNOWN, LabelState.INCOMPLETE}
SETTLE_WAIT = timedelta(seconds=1800)
KEY_PROMISE = timedelta(hours=24)


class Oracle:
    """Checks a world after each step, and more once everything has settled."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.was_open: set[str] = set()  # labels whose purchase was not over when its request was
        self.restored: set[str] = set()  # labels that the database forgot, and that their shop has
        self.moved: set[str] = set()  # labels whose parcels were handed in while they were bought
        self.failed: set[str] = set()
        self.checked: dict[str, object] = {}  # of each label: its row and what was told of it

    def check(self) -> None:
        """Check the orders, and the labels that have changed since the last time."""
        rows, told = self.world.rows(), self.world.told()
        self.given = {label_id for wanted in self.world.orders for label_id in wanted.given}
        for wanted in self.world.orders:
            self.check_order(wanted, [row for row in rows if row.order_id == wanted.id])
        for row in rows:
            # Time passes for all alike.
            facts = [value for name, value in vars(row).items() if name != "_state" and not isinstance(value, datetime)]
            facts.append(len(told[row.id]))
            if self.checked.get(row.id) != facts:
                self.check_row(row, told[row.id])
                self.checked[row.id] = facts

    def check_order(self, wanted: Order, rows: list[ShippingLabel]) -> None:
        cancelled = {row.id for row in rows if row.state == LabelState.CANCELLED}
        bought = {row.id for row in rows if row.state == LabelState.GENERATED}
        # An erased label keeps its key for as long as is promised; then the order may be bought anew.
        erased = [row for row in rows if row.addresses_removed_at and row.idempotency_key is None]
        freed = {row.id for row in erased if row.finished_at and timezone.now() - row.finished_at > KEY_PROMISE}
        live = ((wanted.given - cancelled) | bought) - freed
        assert len(live) <= 1, f"two live labels for one order: {sorted(live)}"

    def check_row(self, row: ShippingLabel, told: list[WebhookEvent]) -> None:
        if row.state in OPEN:
            self.was_open.add(row.id)
        if row.state == LabelState.FAILED:
            self.failed.add(row.id)
            assert row.idempotency_key is None, "nothing was made, and the key is not free"
            assert row.id not in self.given, "the shop has the label, and it is not made"
            is_early = row.finished_at and row.finished_at - row.created_at < SETTLE_WAIT
            assert row.last_event != Event.SETTLED or not is_early, "settled before its wait is over"
            unknown = {*self.world.live(row)} - {*row.tracking_numbers}
            is_asked = row.decided_at and row.ask_again_at  # a person was wrong, and alpha is asked
            assert row.carrier_code == "beta" or is_asked or not unknown, f"not made, it says, and alpha has {unknown}"
            assert not row.error_code.endswith("OUTCOME_UNKNOWN"), "a settled order says that it is unknown"
            assert "same Idempotency-Key" not in row.error_message, "a settled order asks for its old key"
        elif row.id not in self.failed and not row.addresses_removed_at:  # an erased customer's key is kept for a day
            assert row.idempotency_key is not None, f"the key is free, and the label is {row.state}"
        status = self.world.buyer.get(f"{SHIPMENTS}/{row.id}").status_code
        assert status == (200 if row.state == LabelState.GENERATED else 404), f"{row.state}, and the API says {status}"
        if row.state == LabelState.GENERATED:
            self.check_bought(row)
        if row.state == LabelState.CANCELLED:
            assert row.carrier_code == "beta" or not self.world.live_own(row), "cancelled here, and not at the carrier"
        if row.id in self.moved:
            assert row.state == LabelState.GENERATED, f"handed in, and {row.state}"
        self.check_told(row, told)

    def check_bought(self, row: ShippingLabel) -> None:
        numbers = row.tracking_numbers
        assert len(numbers) == len(set(numbers)) == len(row.weights_kg), f"{numbers} of {len(row.weights_kg)} parcels"
        made = {each.tracking_number for each in self.world.made(row)}
        assert set(numbers) <= made, "a number that was not made"
        if row.carrier_code == "alpha":
            assert set(numbers) <= set(self.world.live(row)), "bought, and cancelled at the carrier"
        for number in numbers:
            found = self.world.buyer.get(PARCELS + number)
            assert found.status_code == 200, f"no parcel with {number}"
            assert json.loads(found.content)["id"] == row.id

    def check_told(self, row: ShippingLabel, deliveries: list[WebhookEvent]) -> None:
        """The webhooks of a label are those of its transitions, each once, in order."""
        told = [each.type.removeprefix("label.") for each in deliveries]
        assert told.count("generated") <= 1 >= told.count("cancelled"), told
        assert told.count("failed") <= 1 + (row.id in self.failed), told
        assert "cancelled" not in told or told.index("cancelled") > told.index("generated"), told
        last = told[-1] if told else None
        match row.state:
            case LabelState.GENERATED:
                assert last == "generated", told
            case LabelState.CANCELLED:
                assert last == "cancelled", told
            case LabelState.FAILED if row.id in self.was_open:
                assert last == "failed", f"settled, and not told: {told}"
            case LabelState.FAILED:
                assert last in (None, "failed"), told
        for each in deliveries:
            assert each.type != "label.failed" or not each.data["code"].endswith("OUTCOME_UNKNOWN"), each.data

    # --- At the end ---

    def check_settled(self) -> None:
        self.checked.clear()
        self.check()
        for row in self.world.rows():
            self.check_end(row)

    def check_end(self, row: ShippingLabel) -> None:
        is_persons = ShippingLabel.objects.needing_decision().filter(id=row.id).exists()
        is_noticed = is_persons or bool(row.staff_notice)
        assert row.state not in {LabelState.PURCHASING, LabelState.RECEIVED}, f"{row.state} for ever"
        if row.state in OPEN | CANCELLATION:
            assert is_persons, f"{row.state}, and nobody is told"
        if row.carrier_code == "beta":
            is_free = row.state not in OPEN | CANCELLATION or row.id in self.restored
            assert is_free, f"beta bills nothing, and its order is {row.state} for ever"
            return
        known = {*row.tracking_numbers, *row.cancelled_numbers}
        if row.state in CANCELLATION:  # a person ends it, and then these are cancelled
            known.update(row.surplus_numbers)
        for number in self.world.live(row):
            assert number in known or number in (row.staff_notice or ""), f"{number} is paid for, and nobody knows it"
            is_sold = row.state == LabelState.GENERATED and number in row.tracking_numbers
            assert is_sold or is_noticed, f"{number} is paid for: {row.state}"
        made = {*self.world.live(row)}
        is_fetchable = row.reservation_number and len(made) == len(row.weights_kg)
        # What a person was wrong about is a person's again.
        is_settled = row.state not in OPEN or row.decided_at
        assert is_settled or (self.world.made(row) and not is_fetchable), "the carrier knows, and it is open"
        has_all = len(set(row.tracking_numbers)) == len(row.weights_kg) and row.pdf is not None
        assert row.state not in OPEN or not has_all, "all PDFs and numbers came, and a person has to decide"
