"""The tables of data beside the code: answers' templates, countries, and the rules of requests' fields."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo


def rows(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def content(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((Path(__file__).parent / name).read_text("utf-8"))
    return read


def filled(template: Any, facts: Mapping[str, Any]) -> Any:
    """Return an answer's template with the facts in the places of the texts that name them, such as `$city`."""
    if isinstance(template, dict):
        return {name: filled(inner, facts) for name, inner in template.items()}
    return facts[template[1:]] if isinstance(template, str) and template.startswith("$") else template


def error_texts(service: str) -> dict[int, str]:
    """Return the texts of a service's error codes; of rows that overlap the first one counts."""
    texts: dict[int, str] = {}
    for row in rows("error_texts.csv"):
        first, _, last = row["codes"].partition("-")
        if row["service"] == service:
            texts = dict.fromkeys(range(int(first), int(last or first) + 1), row["text"]) | texts
    return texts


PARIS = ZoneInfo("Europe/Paris")  # both carriers' clock
_ROWS = {row["country"]: row for row in rows("countries.csv")}  # by ISO 3166-1 alpha-2


def codes(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def _group(name: str) -> frozenset[str]:
    return frozenset(country for country, row in _ROWS.items() if name in row["groups"].split())


COUNTRIES = frozenset(_ROWS)
FRANCE, OVERSEAS, EU, EUROPE = map(_group, ("france", "overseas", "eu", "europe"))
# alpha asks for no customs description here: the EU, Monaco and the EU's outermost regions.
EU_TERRITORY = _group("eu_territory")
_OUTSIDE = {row["country"]: tuple(row["postal_codes"].split()) for row in rows("outside_union.csv")}
# alpha's point service has overseas territories in this form, in requests and in the answers' `codePays`.
ALPHA_3 = {country: row["alpha_3"] for country, row in _ROWS.items() if row["alpha_3"]}


def is_outside_union(country: str, postal_code: str) -> bool:
    """Return whether it is one of a country of the EU, by its beginning, that lies outside the customs union."""
    return postal_code.replace(" ", "").startswith(_OUTSIDE.get(country, ()))


def is_postal_code_of(country: str, postal_code: str) -> bool:
    """Return whether it is one of the country; one without a pattern takes any."""
    pattern = _ROWS[country]["postal_code"] if country in _ROWS else ""
    return not pattern or re.fullmatch(pattern, postal_code.upper()) is not None


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
        text, code = str(fields.get(rule.field, "")), 0
        if not text:
            code = rule.missing
        elif rule.too_long and len(text) > rule.longest:
            code = rule.too_long
        elif not re.fullmatch(rule.pattern, text, re.ASCII):
            code = rule.wrong
        if code:
            yield code, rule.detail
