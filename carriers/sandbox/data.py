"""The tables of data beside the code."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


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
