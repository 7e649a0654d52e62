"""The types of events, each with its data: ids, numbers, status and times, nothing personal."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
SCHEMAS: dict[str, Schema] = {
    "text": {"type": "string"},
    "text or null": {"type": ["string", "null"]},
    "texts": {"type": "array", "items": {"type": "string"}},
    "time or null": {"type": ["integer", "null"], "format": "int64"},
}


@dataclass(frozen=True)
class Field:
    """A field of an event's data: its JSON schema, its meaning and an example."""

    schema: Schema
    meaning: str
    example: Any


@dataclass(frozen=True)
class EventType:
    """A type of event: when it is sent, and what of."""

    summary: str
    fields: dict[str, Field]


def read_types() -> dict[str, EventType]:
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {
        name: EventType(
            row["summary"],
            {field: Field(SCHEMAS[own.pop("type")], **own) for field, own in row["fields"].items()},
        )
        for name, row in rows.items()
    }


EVENT_TYPES = read_types()
TEST, DISABLED = "webhook.test", "webhook.disabled"
# The types that an endpoint may ask for.
SUBSCRIBABLE = tuple(name for name in EVENT_TYPES if name != TEST)
