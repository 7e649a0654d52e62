"""Compares the carriers' ledger with the labels' table: each key bought once and recorded, or not bought.

A parcel that was cancelled counts as not bought, and a label that is generated must have none.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from tests.drills.environment import Environment
from tests.drills.http_client import Answer

GENERATED, FAILED, HELD = "label_generated", "failed", ("unknown", "incomplete")


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

    def __str__(self) -> str:
        states = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        return (
            f"{self.keys} keys, {self.bought} bought, {self.bought_twice} bought twice, "
            f"{self.unknown_to_us} bought and unknown to us; rows: {states}"
        )


class Audit:
    """The ledger and the table, read once."""

    def __init__(self, env: Environment) -> None:
        from labels.models import ShippingLabel

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
        bought = [row for row in rows if self.ledger.get(row.id)]
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
        result.faults += [f"{key}: {fault}" for fault in missing_labels(rows, answers)]
        return result

    def unrecorded(self) -> AuditResult:
        """Find what the carriers made and no row records."""
        references = self.references - {row.id for rows in self.rows.values() for row in rows}
        faults = [f"{reference}: in the ledger, without a row" for reference in sorted(references)]
        return AuditResult(unknown_to_us=len(faults), faults=faults)


def missing_labels(rows: list[Any], answers: list[Answer]) -> list[str]:
    """Compare the labels that clients were given with the table."""
    generated = {row.id: row.tracking_number for row in rows if row.state == GENERATED}
    given = [answer.body for answer in answers if answer.status == 201]
    missing = [label["id"] for label in given if generated.get(label["id"]) != label["trackingNumber"]]
    return [f"answered 201 for {label_id}, which does not exist" for label_id in missing]


def problem_of(row: Any, parcels: list[dict[str, Any]]) -> str:
    """Describe the problem of a row after its reconciliation; empty if there is none."""
    if row.state == GENERATED:
        return problem_of_label(row, [parcel["tracking_number"] for parcel in parcels])
    if row.state == FAILED:
        return "the carrier made it" if parcels else ""
    return "" if row.state in HELD else "not in a final state"


def problem_of_label(row: Any, numbers: list[str]) -> str:
    from labels import storage

    if sorted(numbers) != sorted(row.tracking_numbers):
        return f"has {row.tracking_numbers}, the carrier made {numbers}"
    pdf = storage.read(row.pdf_key)
    is_whole = pdf and pdf.startswith(b"%PDF") and b"%%EOF" in pdf[-32:]
    return "" if is_whole else "its PDF is lost"
