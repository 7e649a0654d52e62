"""The webhooks of the description: what is sent to a shop's endpoint for each type of event."""

from typing import Any, Final

from shops.webhooks.claims import DEADLINE_S
from shops.webhooks.event_types import EVENT_TYPES, EventType, Field
from shops.webhooks.retries import MAX_ATTEMPTS

Json = dict[str, Any]
EVENT_TIME: Final = "2026-11-21T15:08:23.946Z"
HEADERS: Final = {
    "webhook-id": ("The message's id, the same at every attempt: process each id once.", "msg_a1b2c3d4e5f60718"),
    "webhook-timestamp": ("The time of this attempt: Unix time in seconds.", "1790000000"),
    "webhook-signature": (
        "Signatures of `<webhook-id>.<webhook-timestamp>.<body>`, separated by spaces: more while a secret rotates.",
        "v1,y0YjpiP7L5XHOyFN53G3RRDsc2c5MOJy25iFxflb+/M=",
    ),
}


def webhooks() -> dict[str, Json]:
    return {name: {"post": operation(name, event_type)} for name, event_type in EVENT_TYPES.items()}


def operation(name: str, event_type: EventType) -> Json:
    return {
        "operationId": name.replace(".", "_"),
        "tags": ["webhook-requests"],  # one of its own, or generators put both into one class
        "summary": name,
        "description": event_type.summary,
        "security": [],
        "parameters": [
            {
                "name": header,
                "in": "header",
                "required": True,
                "description": description,
                "schema": {"type": "string", "examples": [example]},
            }
            for header, (description, example) in HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body(name, event_type)}}},
        "responses": {
            "2XX": {"description": f"Any of these within {DEADLINE_S:g} seconds is a success; the body is dropped."},
            "410": {"description": "Disables the endpoint."},
            "default": {"description": f"Tried again, {MAX_ATTEMPTS} times in all; redirects are not followed."},
        },
    }


def body(name: str, event_type: EventType) -> Json:
    fields = {
        "type": {"type": "string", "const": name, "description": "The type of the event.", "examples": [name]},
        "timestamp": {
            "type": "string",
            "format": "date-time",
            "description": "When it happened: ISO 8601, UTC.",
            "examples": [EVENT_TIME],
        },
        "data": data(event_type),
    }
    return {"type": "object", "properties": fields, "required": list(fields)}


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
