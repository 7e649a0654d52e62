"""The columns that hold customers' data, of all tables, and their table in docs/security.md."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from django.apps import apps
from django.db.models import Model

import labels.personal_data.columns
import parcels.personal_data.columns
from shops.personal_data import Columns, Each, Members, Part, Value, named
from shops.staff.taking import NOTES, QueueRow


def others() -> dict[type[Model], dict[str, str]]:
    """Return what columns that are not personal hold, by table."""
    found: defaultdict[type[Model], dict[str, str]] = defaultdict(dict)
    with Path(__file__).with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[apps.get_model(row["table"])] |= named(row["columns"], row["meaning"])
    return found


COLUMNS: Final[Mapping[type[Model], Columns]] = {
    **parcels.personal_data.columns.COLUMNS,
    **labels.personal_data.columns.COLUMNS,
    QueueRow: {"notes": NOTES},
}
OTHERS: Final = others()


def table() -> str:
    """Return the table of docs/security.md."""
    return "\n".join(["| column | kind | without the permission | after an erasure |", "|---|---|---|---|", *rows()])


def rows() -> Iterator[str]:
    for model, columns in COLUMNS.items():
        for name, part in columns.items():
            for path, value in values(part, f"{model._meta.model_name}.{name}"):
                seen = "dots" if value.is_masked else "shown"
                seen = "the table's words, else dots" if value.standard else seen
                left = {"": "empty", (): "empty"}.get(value.left, "none" if value.left is None else value.left)
                left = "stays: its row is of no customer" if model is QueueRow else left
                yield f"| `{path}` | {value.kind} | {seen} | {left} |"


def values(part: Part, path: str) -> Iterator[tuple[str, Value]]:
    """Yield each personal value of a column, with its path, such as `order.items[].name`."""
    match part:
        case Value():
            yield path, part
        case Each():
            yield from values(part.part, f"{path}[]")
        case Members():
            for name, each in part.parts.items():
                yield from values(each, f"{path}.{name}")
