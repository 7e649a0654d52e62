"""The append-only ledger of purchases."""

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Sequence

from carriers.sandbox.faults import NO_FAULT, Fault
from carriers.sandbox.journeys import REAL_TIME, UNSENT
from carriers.sandbox.parcel import Change, Key, Parcel, Purchase, Way, journey_of, purchase_of

# Requests and labels are most of a purchase's size; they are kept of the latest parcels only.
PARCELS_KEPT = 20_000


class Ledger:
    """The purchases, safe for threads."""

    def __init__(self, pace: float = REAL_TIME) -> None:
        self._lock = threading.Lock()
        self.pace = pace
        self.clear()

    def clear(self) -> None:
        with self._lock:
            self._purchases: list[Purchase] = []
            self._by_reference: dict[str, list[Purchase]] = defaultdict(list)
            self._by_number: dict[Key, Purchase] = {}
            self._parcels: OrderedDict[Key, Parcel] = OrderedDict()
            self._changes: dict[Key, list[Change]] = defaultdict(list)
            self.cancelled: set[Key] = set()
            self.collected: set[Key] = set()  # which the carrier has taken in charge

    def record(self, parcels: Sequence[Parcel], account: str, fault: Fault = NO_FAULT) -> None:
        """Enter the parcels of one call; nobody can hand in a parcel whose label was lost."""
        now = time.time()
        findable_at_s = now + (fault.delay_s if fault.name in ("late", "young") else 0)
        times = {"made_at_s": now, "findable_at_s": findable_at_s, "pace": self.pace}
        with self._lock:
            for parcel in parcels:
                journey = UNSENT if fault.loses_label else journey_of(parcel.label)
                purchase = purchase_of(parcel, account=account, journey=journey, **times)
                self._purchases.append(purchase)
                self._by_reference[purchase.reference].append(purchase)
                self._by_number[purchase.key] = purchase
                self._parcels[purchase.key] = parcel
                if fault.name == "collected":
                    self.collected.add(purchase.key)
                if len(self._parcels) > PARCELS_KEPT:
                    self._parcels.popitem(last=False)

    def register(self, parcels: Sequence[Purchase]) -> None:
        """Enter parcels that were sold elsewhere: they can be tracked, and are no purchases."""
        with self._lock:
            self._by_number.update({parcel.key: parcel for parcel in parcels})

    def change(self, parcel: Purchase, change: Change) -> None:
        with self._lock:
            self._changes[parcel.key].append(change)

    def way(self, parcel: Purchase) -> Way:
        """Return a parcel's way until now; a cancelled one is not handed in."""
        with self._lock:
            changes = list(self._changes.get(parcel.key, []))
        return Way(parcel, changes, parcel.made_at_s if parcel.key in self.cancelled else time.time())

    def find(self, *, carrier: str | None = None, reference: str | None = None) -> list[Purchase]:
        with self._lock:
            rows = self._purchases if reference is None else self._by_reference.get(reference, [])
            return [row for row in rows if carrier in (None, row.carrier)]

    def purchase(self, carrier: str, number: str) -> Purchase | None:
        with self._lock:
            return self._by_number.get((carrier, number))

    def parcel(self, carrier: str, number: str) -> Parcel | None:
        with self._lock:
            return self._parcels.get((carrier, number))

    def reserved(self, reservation_number: str) -> list[Purchase]:
        with self._lock:
            return [row for row in self._purchases if row.reservation_number == reservation_number]
