"""The webhooks of the description: what is sent to a shop's endpoint for each type of event."""

from typing import Any

from shops.webhooks.event_types import EVENT_TYPES, EventType, Field

Json = dict[str, Any]


def webhooks(shared: Json) -> dict[str, Json]:
    """Return the request of each type; `shared` is what is the same for all."""
    return {name: {"post": operation(name, event_type, shared)} for name, event_type in EVENT_TYPES.items()}


def operation(name: str, event_type: EventType, shared: Json) -> Json:
    kind = {"type": "string", "const": name, "description": "The type of the event.", "examples": [name]}
    fields = {"type": kind, "timestamp": shared["timestamp"], "data": data(event_type)}
    body = {"type": "object", "properties": fields, "required": list(fields)}
    return {
        "operationId": name.replace(".", "_"),
        "tags": shared["tags"],
        "summary": name,
        "description": event_type.summary,
        "security": [],
        "parameters": shared["parameters"],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": shared["responses"],
    }


def data(event_type: EventType) -> Json:
    return {
        "type": "object",
        "description": "What the event tells. Further fields may be added.",
        "properties": {name: described(field) for name, field in event_type.fields.items()},
        "required": list(event_type.fields),
        "examples": [{name: field.example for name, field in event_type.fields.items()}],
    }


def described(field: Field) -> Json:
    meaning = f"{field.meaning[0].upper()}{field.meaning[1:]}."
    return field.schema | {"description": meaning, "examples": [field.example]}
