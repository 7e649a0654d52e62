"""The rules for the fields of requests to the carriers' pickup point services."""

import re
from dataclasses import dataclass

from carriers.sandbox.countries import COUNTRIES
from carriers.sandbox.data import rows

PATTERNS = {"DAY": r"(0[1-9]|[12]\d|3[01])/(0[1-9]|1[0-2])/\d{4}", "COUNTRY": "|".join(sorted(COUNTRIES))}


@dataclass(frozen=True)
class Rule:
    """A field, the pattern of its text, and the codes for an empty (0: it may be) and for another text."""

    field: str
    pattern: str
    missing: int
    wrong: int

    def broken_by(self, text: str) -> int:
        """Return the code for a text, 0 for one that is right."""
        if not text:
            return self.missing
        return 0 if re.fullmatch(self.pattern, text, re.ASCII) else self.wrong


def rules_of(service: str) -> list[Rule]:
    found = [row for row in rows("point_rules.csv") if row["service"] == service]
    return [
        Rule(row["field"], PATTERNS.get(row["pattern"], row["pattern"]), int(row["missing"] or 0), int(row["wrong"]))
        for row in found
    ]
