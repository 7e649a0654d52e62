"""The append-only ledger of purchases, in memory and, when a path is given, in a file."""

import json
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from carriers.sandbox.journeys import REAL_TIME, UNSENT
from carriers.sandbox.parcel import Change, Parcel, Purchase, Way, journey_of, purchase_of, read_parcel

# Requests and labels are most of a purchase's size; they are kept of the latest parcels only.
PARCELS_KEPT = 20_000


class Ledger:
    """The purchases, safe for threads; with a file, every event is written before the call returns."""

    def __init__(self, path: Path | None = None, pace: float = REAL_TIME) -> None:
        self._lock = threading.Lock()
        self.pace = pace
        self._highest: dict[str, str] = {}
        self._forget()
        self._file = None
        if path is not None:
            self._read(path)
            self._file = path.open("ab")

    def _forget(self) -> None:
        self._purchases: list[Purchase] = []
        self._by_reference: dict[str, list[Purchase]] = defaultdict(list)
        self._by_number: dict[tuple[str, str], Purchase] = {}
        self._parcels: OrderedDict[tuple[str, str], Parcel] = OrderedDict()
        self._marks: set[tuple[str, str, str]] = set()  # cancelled or collected, carrier and number
        self._changes: dict[tuple[str, str], list[Change]] = defaultdict(list)

    def record(
        self, parcels: Sequence[Parcel], account: str, findable_after_s: float = 0, *, is_label_lost: bool = False
    ) -> None:
        """Enter the parcels of one call, all or none; nobody can hand in a parcel whose label was lost."""
        now = time.time()
        facts = {"findable_at_s": now + findable_after_s, "pace": self.pace}
        journeys = [UNSENT if is_label_lost else journey_of(parcel.label) for parcel in parcels]
        made = [
            {**asdict(purchase_of(parcel, account, now, journey=journey, **facts)), "parcel": asdict(parcel)}
            for parcel, journey in zip(parcels, journeys, strict=True)
        ]
        self._append("made", *made)

    def register(self, parcels: Sequence[Purchase]) -> None:
        """Enter parcels that were sold elsewhere: they can be tracked, and are no purchases."""
        self._append("registered", *map(asdict, parcels))

    def change(self, parcel: Purchase, change: Change) -> None:
        """Enter a change of a parcel's way."""
        key = {"carrier": parcel.carrier, "tracking_number": parcel.tracking_number}
        self._append("changed", {**key, "change": asdict(change)})

    def cancel(self, carrier: str, number: str) -> None:
        self._append("cancelled", {"carrier": carrier, "tracking_number": number})

    def collect(self, carrier: str, number: str) -> None:
        """Enter that the carrier has taken a parcel in charge."""
        self._append("collected", {"carrier": carrier, "tracking_number": number})

    def clear(self) -> None:
        """Start an empty ledger; the file keeps the earlier entries."""
        self._append("reset", {})

    def way(self, parcel: Purchase) -> Way:
        """Return a parcel's way until now; a cancelled one is not handed in."""
        key = (parcel.carrier, parcel.tracking_number)
        with self._lock:
            changes, is_cancelled = list(self._changes.get(key, [])), self.is_cancelled(*key)
        return Way(parcel, changes, parcel.made_at_s if is_cancelled else time.time())

    def find(self, *, carrier: str | None = None, reference: str | None = None) -> list[Purchase]:
        with self._lock:
            rows = self._purchases if reference is None else self._by_reference.get(reference, [])
            return [row for row in rows if carrier in (None, row.carrier)]

    def find_visible(self, *, carrier: str, reference: str, account: str, age_s: float = 0) -> list[Purchase]:
        """Return an account's parcels that the tracking service knows: neither cancelled nor too young."""
        now = time.time()
        return [
            row
            for row in self.find(carrier=carrier, reference=reference)
            if row.account == account
            and not self.is_cancelled(carrier, row.tracking_number)
            and max(row.findable_at_s, row.made_at_s + age_s) <= now
        ]

    def highest_number(self, carrier: str) -> str | None:
        """Return the highest tracking number ever entered, even before a reset: none is handed out again."""
        with self._lock:
            return self._highest.get(carrier)

    def purchase(self, carrier: str, number: str) -> Purchase | None:
        with self._lock:
            return self._by_number.get((carrier, number))

    def parcel(self, carrier: str, number: str) -> Parcel | None:
        with self._lock:
            return self._parcels.get((carrier, number))

    def reserved(self, reservation_number: str) -> list[Purchase]:
        """Return the parcels of alpha's reservation."""
        with self._lock:
            return [row for row in self._purchases if row.reservation_number == reservation_number]

    def is_cancelled(self, carrier: str, number: str) -> bool:
        return ("cancelled", carrier, number) in self._marks

    def is_collected(self, carrier: str, number: str) -> bool:
        return ("collected", carrier, number) in self._marks

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()

    def _append(self, event: str, *rows: dict[str, Any]) -> None:
        """Write events of one kind, all or none, and apply them."""
        with self._lock:
            if self._file is not None:
                self._file.write(b"".join(json.dumps({"event": event, **row}).encode() + b"\n" for row in rows))
                self._file.flush()
            for row in rows:
                self._apply(event, **row)

    def _read(self, path: Path) -> None:
        """Replay the file and drop a last line that a kill cut short: its purchase was never answered."""
        if not path.exists():
            return
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            path.write_bytes(whole)
        for line in whole.splitlines():
            self._apply(**json.loads(line))

    def _apply(self, event: str, **row: Any) -> None:
        match event:
            case "made":
                parcel = read_parcel(row.pop("parcel"))
                self._enter(Purchase(**row), parcel)
            case "registered":
                self._by_number[row["carrier"], row["tracking_number"]] = Purchase(**row)
            case "changed":
                self._changes[row["carrier"], row["tracking_number"]].append(Change(**row["change"]))
            case "cancelled" | "collected":
                self._marks.add((event, row["carrier"], row["tracking_number"]))
            case "reset":
                self._forget()

    def _enter(self, purchase: Purchase, parcel: Parcel) -> None:
        key = (purchase.carrier, purchase.tracking_number)
        self._purchases.append(purchase)
        self._by_reference[purchase.reference].append(purchase)
        self._by_number[key] = purchase
        self._parcels[key] = parcel
        self._highest[purchase.carrier] = max(purchase.tracking_number, self._highest.get(purchase.carrier, ""))
        if len(self._parcels) > PARCELS_KEPT:
            self._parcels.popitem(last=False)
