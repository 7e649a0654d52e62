"""Composes the description of `source.yaml`, the serializers and the table of errors; a test compares."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from django.utils.text import capfirst

from config import __version__
from config.api.errors import error_body
from config.docs.generated_tables import products
from config.docs.openapi import schemas
from config.docs.openapi.views import SafeLoader
from shops.api.errors.coded import CODES, PDF_UNREADABLE
from shops.api.errors.exceptions import ErrorEntry
from shops.api.errors.plain import PLAIN_ERRORS
from shops.webhooks.event_types import EVENT_TYPES

Json = dict[str, Any]
SOURCE: Final = Path(__file__).with_name("source.yaml")
# The methods that a path with this operation takes, as `Allow` lists them.
METHODS: Final = {"get": "GET, HEAD", "post": "POST", "patch": "PATCH", "delete": "DELETE"}
ENTRIES: Final = PLAIN_ERRORS | CODES | {"PDF_UNREADABLE": PDF_UNREADABLE}
ERROR_TIME: Final = "2026-11-21T03:12:30.620Z"
# The schemas of events' fields, by their types.
EVENT_FIELDS: Final[dict[str, Json]] = {
    "text": {"type": "string"},
    "text or null": {"type": ["string", "null"]},
    "texts": {"type": "array", "items": {"type": "string"}},
    "time or null": {"type": ["integer", "null"], "format": "int64"},
}
# The parts of `source.yaml` that others are made of.
INGREDIENTS: Final = {"types", "answers", "webhook", "examples", "security"}


class Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are, and each value in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


@cache
def source() -> Json:
    loaded: Json = yaml.load(SOURCE.read_bytes(), Loader=SafeLoader)  # noqa: S506 - safe
    return loaded


def example(name: str) -> Json:
    found: Json = source()["examples"][name]
    return found


def generate() -> Json:
    kept = {name: part for name, part in source().items() if name not in INGREDIENTS}
    version = {"description": kept["info"]["description"].replace("{version}", __version__)}
    paths = {path: dict(operations(methods)) for path, methods in kept["paths"].items()}
    made = schemas.compose(kept["components"]["schemas"])
    made["ErrorCode"] |= {
        "enum": list(CODES),
        "description": "\n".join(f"* {entry.explanation}" for entry in CODES.values()),
    }
    components, shared = kept["components"] | {"schemas": made}, source()["webhook"]  # what is the same for all types
    webhooks = {name: {"post": webhook_operation(name, event_type, shared)} for name, event_type in EVENT_TYPES.items()}
    return kept | {"info": kept["info"] | version, "paths": paths, "components": components, "webhooks": webhooks}


def operations(path: Json) -> Iterator[tuple[str, Json]]:
    methods = ", ".join(METHODS[method] for method in path)
    for method, operation in path.items():
        made = {"security": source()["security"]} | operation
        made["description"] = made["description"].replace("{products}", products())
        made["parameters"] = [one for each in made.get("parameters", ()) for one in schemas.parameters(each)]
        made["responses"] = answers(made, methods)
        del made["errors"]
        yield method, {name: part for name, part in made.items() if part}


def is_public(operation: Json) -> bool:
    return operation.get("security") == [{}]


def answers(operation: Json, methods: str) -> Json:
    """Return all answers; those of `operation` may say headers of their own."""
    own = operation["responses"]
    described = {str(status): failure(status, entries, methods) for status, entries in failures(operation).items()}
    return {
        status: described.get(status, {})
        | own.get(status, {})
        | {"headers": headers(operation, int(status)) | own.get(status, {}).get("headers", {})}
        for status in own | described
    }


def failures(operation: Json) -> dict[int, tuple[ErrorEntry, ...]]:
    """Return an operation's own failures and those of every endpoint."""
    names = {405: ["method_not_allowed"]} | operation["errors"]
    names[500] = ["unexpected", *names.get(500, ())]
    if not is_public(operation):
        names[429] = ["limit_exceeded"]
    return {status: tuple(ENTRIES[name] for name in names[status]) for status in sorted(names)}


def failure(status: int, entries: tuple[ErrorEntry, ...], methods: str) -> Json:
    """Describe one status with all its causes and remedies, and a body of each."""
    causes = "\n".join(f"* {entry.explanation}" for entry in entries)
    examples = {}
    for entry in entries:
        body = error_body(status, entry.example_message(methods=methods), entry.code) | {"timestamp": ERROR_TIME}
        examples[entry.name] = {"summary": entry.cause, "value": body}
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": examples}
    title = source()["answers"][status]["title"]
    return {"description": f"{title}.\n\n{causes}", "content": {"application/json": content}}


def headers(operation: Json, status: int) -> Json:
    rules = source()["answers"][status]
    names = {"X-Request-Id": "XRequestId", "Cache-Control": "CacheControl"}
    if not is_public(operation) and rules["counted"] != "never":
        suffix = "" if rules["counted"] == "always" else "IfCounted"
        names |= {"RateLimit-Policy": f"RateLimitPolicy{suffix}", "RateLimit": f"RateLimit{suffix}"}
    names |= rules.get("headers", {})
    if "requestBody" in operation and rules.get("names_ignored"):
        names |= {"Ignored-Fields": "IgnoredFields"}
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}


# --- The requests to a shop's endpoint ---


def webhook_operation(name: str, event_type: Json, shared: Json) -> Json:
    fields = event_type["fields"]
    kind = {"type": "string", "const": name, "description": "The type of the event.", "examples": [name]}
    data = {
        "type": "object",
        "description": "What the event tells. Further fields may be added.",
        "properties": {field: described(facts) for field, facts in fields.items()},
        "required": list(fields),
        "examples": [{field: facts["example"] for field, facts in fields.items()}],
    }
    members = {"type": kind, "timestamp": shared["timestamp"], "data": data}
    body = {"type": "object", "properties": members, "required": list(members)}
    return {
        "operationId": name.replace(".", "_"),
        "tags": shared["tags"],
        "summary": name,
        "description": event_type["summary"],
        "security": [],
        "parameters": shared["parameters"],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": shared["responses"],
    }


def described(field: Json) -> Json:
    meaning = f"{capfirst(field['meaning'])}."
    return EVENT_FIELDS[field["type"]] | {"description": meaning, "examples": [field["example"]]}


def as_yaml(document: Json) -> bytes:
    return yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, encoding="utf-8")
