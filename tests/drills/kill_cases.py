"""The points at which the kill drill interrupts purchases, cancellations and reconciliations."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.drills.environment import Environment
from tests.drills.orders import Orders
from tests.drills.shop import pickup

PURCHASE, PICKUP, CANCELLATION = "purchase", "pickup", "cancellation"
POINTS = {
    PURCHASE: {
        "reserve-before": "before the row is written",
        "reserve-after": "row committed",
        "call-before": "before the carrier is called",
        "call-half-sent": "half of the request sent",
        "call-sent": "request sent, no answer read",
        "call-second": "before the second of two linked calls",
        "call-answered": "answer received, not yet read",
        "keep-before": "answer read, before the keeping commit",
        "keep-after": "kept",
        "store-before": "before the upload",
        "store-half": "half of the PDF written",
        "store-after": "uploaded",
        "finish-before": "before the finishing commit",
        "finish-after": "finished, not answered",
    },
    PICKUP: {
        "point-before": "before the point is looked up",
        "point-half-sent": "half of the look-up sent",
        "point-sent": "look-up sent, no answer read",
        "point-answered": "point received, not yet read",
        "call-before": "point known, before the carrier is called",
        "call-sent": "to a point: request sent, no answer read",
        "keep-after": "to a point: kept",
    },
    CANCELLATION: {
        "request-before": "before the cancellation is committed",
        "request-after": "to be cancelled, carrier not called",
        "cancel-half-sent": "half of the cancellation sent",
        "cancel-sent": "cancellation sent, no answer read",
        "cancel-answered": "cancelled at the carrier, not recorded",
        "record-after": "one of two parcels recorded",
        "over-before": "cancelled, before the commit",
        "over-after": "cancelled, not answered",
    },
}
# Points of a reconciliation, each with the point at which the purchase or cancellation before it was interrupted.
# What alpha answered and nobody kept has no PDF: it is found, cancelled, and bought again by the client's retry.
RECONCILE_POINTS = [
    (PURCHASE, "call-answered", "claim-after", "lease taken"),
    (PURCHASE, "call-answered", "find-answered", "carrier asked"),
    (PURCHASE, "call-answered", "begin-after", "to be cancelled"),
    (PURCHASE, "call-answered", "cancel-answered", "cancelled, not recorded"),
    (PURCHASE, "call-answered", "record-after", "cancelled"),
    (PURCHASE, "keep-after", "store-half", "half of the PDF written"),
    (PURCHASE, "keep-after", "store-after", "uploaded"),
    (PURCHASE, "keep-after", "finish-after", "finished"),
    (CANCELLATION, "request-after", "claim-after", "cancellation taken"),
    (CANCELLATION, "request-after", "record-after", "one of two parcels cancelled"),
    (CANCELLATION, "request-after", "over-before", "all cancelled, before the commit"),
    (CANCELLATION, "over-before", "over-after", "cancelled and committed"),
]
# Purchases that alpha carries out, or that its search shows, after the lease and before the reconciliation believes it.
LATE_S = 16.0
LATE_POINTS = [
    ("call-sent", "the parcel is made late", {"fault": "slow", "delay_s": LATE_S}),
    ("call-answered", "the search shows the parcel late", {"fault": "young", "delay_s": LATE_S}),
]
ONLY_BETA = {"call-second"}
# beta has no search by reference, and is not asked to cancel.
ONLY_ALPHA = {"find-answered", "begin-after", "cancel-half-sent", "cancel-sent", "cancel-answered", "record-after"}


@dataclass
class Case:
    """One point, the orders interrupted there, and all that their clients saw."""

    env: Environment
    carrier: str
    kind: str
    point: str
    name: str
    reconcile_point: str = ""
    fault: dict[str, Any] | None = None  # of the carrier, while the purchases are made
    at_once: Counter[str] = field(default_factory=Counter)
    meanwhile: Counter[str] = field(default_factory=Counter)
    reconciled: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.orders = Orders(self.env)

    def add(self) -> str:
        """Make an order, of two parcels where two calls to the carrier are needed; return its key."""
        parcels = 2 if self.point == "call-second" or self.kind == CANCELLATION else 1
        return self.orders.add(self.carrier, parcels, **(pickup(self.carrier) if self.kind == PICKUP else {}))

    def ask(self, port: int, keys: Iterable[str] = ()) -> "Counter[str]":
        """Send the orders again, or those of some keys, one after the other; return the outcomes."""
        return Counter(answer.outcome for answer in self.orders.send_all(port, keys, 1))

    @property
    def is_finished_by_asking(self) -> bool:
        """Return whether a retry would do what a reconciliation is to be killed at."""
        return bool(self.reconcile_point) and self.point == "keep-after"

    @property
    def is_possible(self) -> bool:
        is_alpha = self.carrier == "alpha"
        if self.fault and not is_alpha:
            return False  # as nobody can ask it, nothing is late
        points = {self.point, self.reconcile_point}
        if self.kind == PURCHASE and self.reconcile_point and self.point == "call-answered" and not is_alpha:
            return False  # it waits for a person
        return not points & (ONLY_BETA if is_alpha else ONLY_ALPHA)


def all_cases(env: Environment, carrier: str, *, with_reconciling: bool) -> list[Case]:
    of = partial(Case, env, carrier)
    cases = [of(kind, point, name) for kind, points in POINTS.items() for point, name in points.items()]
    if with_reconciling:
        cases += [of(kind, point, f"reconciling: {name}", last) for kind, point, last, name in RECONCILE_POINTS]
    cases += [of(PURCHASE, point, name, fault=fault) for point, name, fault in LATE_POINTS]
    return [case for case in cases if case.is_possible]
