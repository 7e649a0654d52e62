"""Compares what the carriers made with what the service knows: bought once, and known, or not bought."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from tests.drills.environment import Answer, Stage

GENERATED, FAILED, HELD = "label_generated", "failed", ("unknown", "incomplete")


@dataclass
class Verdict:
    """What became of a number of keys; all `faults` are promises broken."""

    keys: int = 0
    bought: int = 0
    bought_twice: int = 0
    unknown_to_us: int = 0
    states: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: "Verdict") -> None:
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


class Judge:
    """The ledger and the table, read once."""

    def __init__(self, stage: Stage) -> None:
        from labels.models import ShippingLabel

        self.made: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for parcel in stage.ledger():
            self.made[parcel["reference"]].append(parcel)
        self.rows: dict[str, list[Any]] = defaultdict(list)
        for row in ShippingLabel.objects.all():
            self.rows[row.order_id].append(row)
        connection.close()

    def keys(self, answers: Mapping[str, list[Answer]]) -> Verdict:
        """Judge keys, each with all answers that its client saw; an order's id is its key."""
        verdict = Verdict()
        for key, seen in answers.items():
            verdict.add(judge_key(key, seen, self.rows[key], self.made))
        return verdict

    def strangers(self) -> Verdict:
        """What the carriers made, and no row knows of."""
        references = set(self.made) - {row.id for rows in self.rows.values() for row in rows}
        faults = [f"{reference}: in the ledger, and there is no row" for reference in sorted(references)]
        return Verdict(unknown_to_us=len(faults), faults=faults)


def judge_key(key: str, answers: list[Answer], rows: list[Any], made: dict[str, list[dict[str, Any]]]) -> Verdict:
    bought = [row for row in rows if made.get(row.id)]
    verdict = Verdict(keys=1, bought=bool(bought), states=Counter(row.state for row in rows))
    parcels_twice = [row.id for row in bought if len(made[row.id]) > len(row.weights_kg)]
    if len(bought) > 1 or parcels_twice:
        verdict.bought_twice += 1
        verdict.faults.append(f"{key}: bought twice, {[(row.id, row.state) for row in bought]}")
    for row in rows:
        problem = problem_of(row, made.get(row.id, []))
        if problem:
            verdict.unknown_to_us += bool(made.get(row.id))
            verdict.faults.append(f"{key}: {row.id} {row.state}: {problem}")
    generated = {row.id: row.tracking_number for row in rows if row.state == GENERATED}
    for answer in answers:
        if answer.status == 201 and generated.get(answer.body["id"]) != answer.body["trackingNumber"]:
            verdict.faults.append(f"{key}: answered 201 for {answer.body['id']}, which is not there")
    return verdict


def problem_of(row: Any, parcels: list[dict[str, Any]]) -> str:
    """Say what is wrong with a row after its reconciliation, empty if nothing is."""
    from labels import storage

    numbers = [parcel["tracking_number"] for parcel in parcels]
    if row.state == GENERATED:
        if sorted(numbers) != sorted(row.tracking_numbers):
            return f"has {row.tracking_numbers}, the carrier made {numbers}"
        pdf = storage.read(row.pdf_key)
        if not (pdf and pdf.startswith(b"%PDF") and b"%%EOF" in pdf[-32:]):
            return "its PDF is lost"
        return ""
    if row.state == FAILED:
        return "the carrier made it" if parcels else ""
    return "" if row.state in HELD else "still not over"
