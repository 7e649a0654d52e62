"""The rules of requests' fields, read from the carriers' tables: forms, lengths, and the codes of errors."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carriers.sandbox.countries import COUNTRIES, FRANCE, OVERSEAS
from carriers.sandbox.data import rows

# By the names that the tables have for them; any other word there is a pattern itself.
PATTERNS = {
    # ASCII letters, digits, spaces, and the hyphen between letters or digits.
    "text": r"(?:[A-Za-z0-9 ]|(?<=[A-Za-z0-9])-(?=[A-Za-z0-9]))*",
    "ascii": r"[\x00-\x7f]*",
    "anything": r"(?s:.*)",
    "country": "|".join(sorted(COUNTRIES)),
    "sender's country": "|".join(sorted(FRANCE | OVERSEAS)),
    "day": r"(0[1-9]|[12]\d|3[01])/(0[1-9]|1[0-2])/\d{4}",
    "integer": r"\d+",
    "decimal": r"\d+(\.\d+)?",
    "above 0": r"(?!-)[0.]*[1-9].*",
}


@dataclass(frozen=True)
class Rule:
    """A field, the pattern of its text, and the codes for an empty (0: it may be), another, and a longer text."""

    field: str
    pattern: str
    missing: int
    wrong: int
    longest: int
    too_long: int
    detail: str

    def broken_by(self, text: str) -> int:
        """Return the code for a text, 0 for one that is right."""
        if not text:
            return self.missing
        if self.too_long and len(text) > self.longest:
            return self.too_long
        return 0 if re.fullmatch(self.pattern, text, re.ASCII) else self.wrong


def rules_of(table: str) -> dict[str, list[Rule]]:
    """Return a table's rules by structure."""
    rules: dict[str, list[Rule]] = defaultdict(list)
    for row in rows(table):
        codes = {name: int(row[name] or 0) for name in ("missing", "wrong", "longest", "too_long")}
        pattern, detail = PATTERNS.get(row["pattern"], row["pattern"]), row.get("detail") or row["field"]
        rules[row["structure"]].append(Rule(row["field"], pattern, detail=detail, **codes))
    return dict(rules)


def broken(rules: Iterable[Rule], fields: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the code of each rule that a structure breaks, and the field."""
    for rule in rules:
        if code := rule.broken_by(str(fields.get(rule.field, ""))):
            yield code, rule.detail
