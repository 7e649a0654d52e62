"""Makes the schemas of the objects that serializers declare, and of the parameters of a query."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.module_loading import import_string
from django.utils.text import capfirst
from rest_framework import serializers

from carriers import CARRIERS
from carriers.order_table import ORDER_FIELDS, described
from carriers.products import PRODUCTS
from parcels.models import TrackingStatus
from parcels.serializers import StatusField, check_web_address
from shops.api import serializer_fields as fields
from shops.api.query_fields import DAY, MOMENT, MomentParameter, WholeNumberParameter
from shops.contracts.addresses import COUNTRY_NAMES, CountryField

Json = dict[str, Any]
Field = serializers.Field[Any, Any, Any, Any]

MEANINGS: Final = "\n".join(f"* `{status}`: {status.label}." for status in TrackingStatus)
# Enumerations that several objects share.
ENUMERATIONS: Final[dict[str, Json]] = {
    "CarrierCode": {"type": "string", "enum": list(CARRIERS)},
    "CountryCode": {"type": "string", "enum": sorted(COUNTRY_NAMES)},
    "ProductCode": {"type": "string", "enum": list(PRODUCTS)},
    "TrackingStatus": {
        "type": "string",
        "enum": list(TrackingStatus.values),
        "description": f"Where a parcel is.\n\n{MEANINGS}",
    },
}
# The fields that refer to these, by their class or name.
SHARED: Final[dict[Any, str]] = {
    CountryField: "CountryCode",
    StatusField: "TrackingStatus",
    "carrierCode": "CarrierCode",
    "productCode": "ProductCode",
}
PLAIN: Final[dict[type[Field], Json]] = {
    fields.DateField: {"type": "string", "format": "date"},
    MomentParameter: {"type": "string", "pattern": f"^({DAY.pattern}|{MOMENT.pattern})$"},
    fields.NumberField: {"type": "number"},
    fields.BooleanField: {"type": "boolean"},
    fields.ArrayField: {"type": "array", "items": {}},
    fields.AnyField: {},
}


def compose(sources: Mapping[str, Json]) -> dict[str, Json]:
    """Return all schemas; those with an `example` are completed by it, and by their `serializer` if they have one."""
    names = {import_string(source["serializer"]): name for name, source in sources.items() if "serializer" in source}
    made = {name: object_schema(name, source, names) for name, source in sources.items() if "example" in source}
    by_hand = {name: source for name, source in sources.items() if name not in made}
    return dict(sorted((ENUMERATIONS | made).items())) | by_hand


def object_schema(name: str, source: Json, names: Mapping[type, str]) -> Json:
    """Describe an object: fields, with details and examples from the source."""
    declared = import_string(source["serializer"])().fields if "serializer" in source else {}
    path, texts = source.get("order_path"), source.get("texts", {})
    made = {
        each: property_schema(field, names) | {"description": meaning(each, texts[each], path)}
        for each, field in declared.items()
    }
    details, example = source.get("properties", {}), source["example"]
    properties = {
        each: made.get(each, {}) | details.get(each, {}) | {"examples": [example[each]]} for each in made or details
    }
    # What is None is what the details remove.
    kept = {each: {key: value for key, value in part.items() if value is not None} for each, part in properties.items()}
    schema = {"type": "object", "description": source["description"], "properties": kept}
    if source.get("is_answer"):
        return schema | {"required": list(properties)}
    required = sorted(field_name for field_name, field in declared.items() if field.required)
    return schema | ({"required": required} if required and not name.startswith("Patched") else {})


def meaning(field_name: str, text: str, order_path: str | None) -> str:
    """Return a field's text; of an order's, with what each carrier does, unless it is simply sent or kept."""
    cases = {} if order_path is None else ORDER_FIELDS.get(f"{order_path}{field_name}", {})
    if all(len(each) == 1 and not each[0].limit and not each[0].is_ignored for each in cases.values()):
        return text
    return f"{text}\n\n" + "\n".join(f"* {carrier}: {described(each)}." for carrier, each in cases.items())


def property_schema(field: Field, names: Mapping[type, str]) -> Json:
    """Return a field's schema, which may be null if the field may."""
    schema = field_schema(field, names)
    if "$ref" in schema:
        return {"oneOf": [schema, {"type": "null"}]} if field.allow_null else {"allOf": [schema]}
    return schema | {"type": [schema["type"], "null"]} if field.allow_null and "type" in schema else schema


def field_schema(field: Field, names: Mapping[type, str]) -> Json:
    match field:
        case serializers.ListSerializer(child=serializers.Field() as child):
            return {"type": "array", "items": field_schema(child, names)}
        case serializers.ListField():
            bounds = {"minItems": field.min_length, "maxItems": field.max_length}
            return {"type": "array", "items": field_schema(field.child, names)} | bounds
        case serializers.Serializer():
            return reference(names[type(field)])
    name = SHARED.get(type(field)) or (isinstance(field, fields.ChoiceField) and SHARED.get(field.field_name))
    return reference(name) if name else value_schema(field)


def reference(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def value_schema(field: Field) -> Json:
    match field:
        case fields.ChoiceField():
            return {"type": "string", "enum": list(field.choices)}
        case WholeNumberParameter():
            return {"type": "integer", "minimum": 1, "maximum": field.max_value, "default": field.default}
        case fields.StringField() if type(field) not in PLAIN:
            return {"type": "string"} | dict(string_bounds(field))
        case fields.AmountField():
            return {"type": "number", "exclusiveMinimum": 0, "maximum": field.max_value}
        case fields.IntegerField():
            return {"type": "integer", "format": "int64", "minimum": field.min_value, "maximum": field.max_value}
    return PLAIN[type(field)]


def string_bounds(field: fields.StringField) -> Iterator[tuple[str, Any]]:
    yield "maxLength", field.max_length
    match field:
        case _ if check_web_address in field.validators:
            yield "format", "uri"
        case fields.CodeField():
            yield "pattern", f"^{field.pattern.pattern}$" if field.required else f"^({field.pattern.pattern})?$"
        case fields.TextField():
            yield "minLength", 1
            yield "pattern", r"\S"
        case _ if field.min_length:
            yield "minLength", field.min_length


def parameters(source: Json) -> Iterator[Json]:
    """Yield a parameter, or those of the serializer of a `query`, each with its example."""
    if "query" not in source:
        yield source
        return
    for name, field in import_string(source["query"])().fields.items():
        yield {
            "in": "query",
            "name": name,
            **({"required": True} if field.required else {}),
            "description": source["texts"][name],
            "schema": source.get("schemas", {}).get(name) or value_schema(field),
            "examples": {capfirst(name): {"value": source["examples"][name], "summary": name}},
        }
