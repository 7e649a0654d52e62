"""Compares the carriers' ledger with the labels' table: each key bought once and recorded, or not bought.

A parcel that was cancelled counts as not bought; a label that is generated must have none, and one that is cancelled
none that is left at a carrier who was asked to cancel it. Nor is beta's parcel of a failed order bought: nobody has its
label, and it is not billed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from django.db import connection

from tests.drills.environment import Environment
from tests.support.http import Answer
from tests.support.paths import SHIPMENTS

GENERATED, FAILED, CANCELLED = "label_generated", "failed", "cancelled"
HELD = ("unknown", "incomplete", "cancelling", "cancel_unknown")  # for a person
WITHDRAWN = (CANCELLED, "cancelling", "cancel_unknown")
FIGURES = ["keys", "bought", "bought twice", "unknown to us", "held for a person"]


@dataclass
class AuditResult:
    """The outcome of a number of keys; each of the `faults` is a broken promise."""

    keys: int = 0
    bought: int = 0
    bought_twice: int = 0
    unknown_to_us: int = 0
    states: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: "AuditResult") -> None:
        for name in ("keys", "bought", "bought_twice", "unknown_to_us"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.states.update(other.states)
        self.faults += other.faults

    def with_faults(self, faults: list[str]) -> Self:
        self.faults += faults
        return self

    @property
    def held(self) -> int:
        """The rows that wait for a person."""
        return sum(self.states[state] for state in HELD)

    @property
    def figures(self) -> list[int]:
        """The cells below `FIGURES`."""
        return [self.keys, self.bought, self.bought_twice, self.unknown_to_us, self.held]

    def __str__(self) -> str:
        states = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        return (
            f"{self.keys} keys, {self.bought} bought, {self.bought_twice} bought twice, "
            f"{self.unknown_to_us} bought and unknown to us, {self.held} held for a person; rows: {states}"
        )


class Audit:
    """The ledger and the table, read once."""

    def __init__(self, env: Environment) -> None:
        from labels.models import ShippingLabel

        self.env = env
        made = env.ledger()
        self.references = {parcel["reference"] for parcel in made}
        self.ledger: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for parcel in made:
            if not parcel["cancelled"]:
                self.ledger[parcel["reference"]].append(parcel)
        self.rows: dict[str, list[Any]] = defaultdict(list)
        for row in ShippingLabel.objects.all():
            self.rows[row.order_id].append(row)
        connection.close()

    def keys(self, answers: Mapping[str, list[Answer]]) -> AuditResult:
        """Audit keys, each with all answers that its client saw; an order's id is its key."""
        total = AuditResult()
        for key, seen in answers.items():
            total.add(self.key(key, seen))
        return total

    def key(self, key: str, answers: list[Answer]) -> AuditResult:
        rows = self.rows[key]
        bought = [row for row in rows if self.ledger.get(row.id) and row.state != CANCELLED and not is_unused(row)]
        result = AuditResult(keys=1, bought=bool(bought), states=Counter(row.state for row in rows))
        parcels_twice = [row.id for row in bought if len(self.ledger[row.id]) > len(row.weights_kg)]
        if len(bought) > 1 or parcels_twice:
            result.bought_twice += 1
            result.faults.append(f"{key}: bought twice, {[(row.id, row.state) for row in bought]}")
        for row in rows:
            problem = problem_of(row, self.ledger.get(row.id, []))
            if problem:
                result.unknown_to_us += bool(self.ledger.get(row.id))
                result.faults.append(f"{key}: {row.id} {row.state}: {problem}")
        faults = [*missing_labels(rows, answers), *released_keys(rows, key), *wrong_replays(rows, answers)]
        result.faults += [f"{key}: {fault}" for fault in faults]
        return result

    def wrongly_shown(self, keys: Iterable[str], port: int) -> list[str]:
        """Retrieve every label from the API; return those shown or hidden against their state."""
        rows = [row for key in keys for row in self.rows[key]]
        statuses = {row: self.env.ask(port, "GET", f"{SHIPMENTS}/{row.id}").status for row in rows}
        return [
            f"{row.order_id}: {row.id} {row.state}: retrieved with {status}"
            for row, status in statuses.items()
            if status != (200 if row.state == GENERATED else 404)
        ]

    def without_row(self) -> set[str]:
        return self.references - {row.id for rows in self.rows.values() for row in rows}

    def unrecorded(self) -> AuditResult:
        """Find what the carriers made and no row records."""
        faults = [f"{reference}: in the ledger, without a row" for reference in sorted(self.without_row())]
        return AuditResult(unknown_to_us=len(faults), faults=faults)


def is_unused(row: Any) -> bool:
    return bool(row.state == FAILED and row.carrier_code == "beta")


def missing_labels(rows: list[Any], answers: list[Answer]) -> list[str]:
    """Compare the labels that clients were given with the table."""
    bought = {row.id: row.tracking_number for row in rows if row.state in (GENERATED, *WITHDRAWN)}
    given = [answer.body for answer in answers if answer.status == 201]
    missing = [label["id"] for label in given if bought.get(label["id"]) != label["trackingNumber"]]
    return [f"answered 201 for {label_id}, which does not exist" for label_id in missing]


def released_keys(rows: list[Any], key: str) -> list[str]:
    """Find cancelled labels whose key could buy another."""
    return [f"{row.id}: its key is released" for row in rows if row.state in WITHDRAWN and row.idempotency_key != key]


def wrong_replays(rows: list[Any], answers: list[Answer]) -> list[str]:
    """Find cancelled labels whose key's last answer was another than that."""
    last = answers[-1].outcome
    expected = {state: f"409 LABEL_{'CANCELLED' if state == CANCELLED else 'BEING_CANCELLED'}" for state in WITHDRAWN}
    return [f"{row.id}: answered {last}" for row in rows if last != expected.get(row.state, last)]


def problem_of(row: Any, parcels: list[dict[str, Any]]) -> str:
    """Describe the problem of a row after its reconciliation; empty if there is none."""
    if row.state == GENERATED:
        return problem_of_label(row, [parcel["tracking_number"] for parcel in parcels])
    numbers = {parcel["tracking_number"] for parcel in parcels}
    if lasting := numbers.intersection(row.cancelled_numbers):
        return f"the carrier did not cancel {lasting}"
    if row.state == CANCELLED:
        return "the carrier did not cancel it" if parcels and row.carrier_code == "alpha" else ""
    if row.state == FAILED:
        return "the carrier made it" if parcels and not is_unused(row) else ""
    return "" if row.state in HELD else "not in a final state"


def problem_of_label(row: Any, numbers: list[str]) -> str:
    from labels.pdfs import storage

    if sorted(numbers) != sorted(row.tracking_numbers):
        return f"has {row.tracking_numbers}, the carrier made {numbers}"
    pdf = storage.read(row.pdf_key)
    is_whole = pdf and pdf.startswith(b"%PDF") and b"%%EOF" in pdf[-32:]
    return "" if is_whole else "its PDF is lost"
