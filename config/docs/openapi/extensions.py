"""Teaches drf-spectacular this service's own fields, serializers and authentication."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction
from rest_framework import serializers

from carriers import CARRIERS
from carriers.order_fields import described
from carriers.order_table import ORDER_FIELDS
from labels import serializers as labels
from labels.customs import MAX_ITEMS, CustomsItemSerializer, CustomsSerializer
from labels.ids import LABEL_ID_LENGTH
from labels.openapi import CUSTOMS, CUSTOMS_ORDER, FURTHER, LABEL, ORDER, SENDER
from labels.openapi_listing import CANCELLATION, LABEL_LIST, LISTED_LABEL, LISTED_PARCEL
from labels.order_rules import MAX_PARCELS
from parcels import serializers as parcels
from parcels.models import TrackingStatus
from parcels.openapi import PARCEL
from shops.api import serializer_fields
from shops.contracts import addresses
from shops.webhooks import openapi
from shops.webhooks import serializers as webhooks

Json = dict[str, Any]

PLAIN: Final[dict[type[Any], Json]] = {
    serializer_fields.DateField: {"type": "string", "format": "date"},
    serializer_fields.NumberField: {"type": "number"},
    serializer_fields.BooleanField: {"type": "boolean"},
    serializer_fields.ArrayField: {"type": "array", "items": {}},
    serializer_fields.AnyField: {"type": "object"},  # drf-spectacular needs a type; `property_of` removes it
}


@dataclass(frozen=True)
class Component:
    """A named object of the API; its fields take their examples from its own."""

    name: str
    meaning: str
    example: Json


COMPONENTS: Final[dict[type[Any], Component]] = {
    parcels.ParcelSerializer: Component("Parcel", "A parcel, where it is, and what is in it.", PARCEL),
    parcels.DestinationSerializer: Component("Destination", "Where a parcel goes.", PARCEL["destination"]),
    parcels.LineItemSerializer: Component("LineItem", "An article in a parcel.", PARCEL["lineItems"][0]),
    parcels.EventSerializer: Component("Event", "A step of a parcel's history.", PARCEL["events"][0]),
    parcels.CarrierStatusSerializer: Component(
        "CarrierStatus", "The carrier's own last word on a parcel.", PARCEL["carrierLastStatus"]
    ),
    parcels.DeliveryWindowSerializer: Component(
        "DeliveryWindow", "When a parcel is expected.", PARCEL["estimatedDeliveryDateWindow"]
    ),
    labels.LabelOrderSerializer: Component(
        "LabelOrder",
        "An order for a label.",
        CUSTOMS_ORDER | ORDER | {"pickupPointCode": "1234A", "shipDate": "2026-11-23"},
    ),
    labels.RecipientSerializer: Component(
        "RecipientAddress",
        "The postal address that parcels go to.",
        ORDER["destinationAddress"] | FURTHER | {"provinceCode": "NY", "instructions": "Sonner deux fois"},
    ),
    labels.OrderedParcelSerializer: Component("OrderedParcel", "One physical parcel.", CUSTOMS_ORDER["parcels"][0]),
    CustomsSerializer: Component("Customs", "A customs declaration, of all parcels of an order.", CUSTOMS),
    CustomsItemSerializer: Component("CustomsItem", "Goods of one kind.", CUSTOMS["items"][0]),
    addresses.AddressSerializer: Component("Address", "The postal address that parcels come from.", SENDER | FURTHER),
    labels.LabelSerializer: Component("Label", "A label that was bought.", LABEL),
    labels.LabelListSerializer: Component("LabelList", "A page of labels.", LABEL_LIST),
    labels.ListedLabelSerializer: Component("ListedLabel", "A label, as a list shows it.", LISTED_LABEL),
    labels.ListedParcelSerializer: Component("ListedParcel", "A parcel of a label.", LISTED_PARCEL),
    labels.CancellationSerializer: Component("Cancellation", "How far a cancellation is.", CANCELLATION),
    webhooks.EventFeedSerializer: Component("EventFeed", "Some events.", openapi.FEED),
    webhooks.EventSerializer: Component("ShopEvent", "An event, as webhooks tell it.", openapi.EVENT),
    webhooks.NewWebhookSerializer: Component("NewWebhook", "An endpoint to be made.", openapi.NEW_WEBHOOK),
    webhooks.WebhookChangeSerializer: Component("WebhookChange", "A change of an endpoint.", openapi.CHANGE),
    webhooks.WebhookSerializer: Component("Webhook", "A webhook endpoint.", openapi.WEBHOOK),
    webhooks.WebhookWithSecretSerializer: Component("NewWebhookSecret", "A new endpoint.", openapi.MADE),
    webhooks.WebhookListSerializer: Component("WebhookList", "A page of endpoints.", openapi.WEBHOOK_LIST),
    webhooks.LastDeliverySerializer: Component("LastDelivery", "The last attempt.", openapi.LAST_DELIVERY),
    webhooks.SecretSerializer: Component("WebhookSecret", "A new secret.", openapi.SECRET),
    webhooks.TestSentSerializer: Component("TestSent", "A test on its way.", {"eventId": openapi.EVENT_ID}),
    webhooks.ReplaySerializer: Component("Replay", "The events to deliver again.", openapi.REPLAY),
    webhooks.QueuedSerializer: Component("Queued", "What is delivered again.", {"queued": 2}),
    webhooks.DeliverySerializer: Component("Delivery", "A delivery to an endpoint.", openapi.DELIVERY),
    webhooks.DeliveryListSerializer: Component("DeliveryList", "A page of deliveries.", openapi.DELIVERY_LIST),
}
# The objects of an order, by the JSON path that their fields' begin with.
PREFIXES: Final = {
    "LabelOrder": "",
    "Address": "originAddress.",
    "RecipientAddress": "destinationAddress.",
    "OrderedParcel": "parcels[].",
    "Customs": "customs.",
    "CustomsItem": "customs.items[].",
}
CASES: Final = {each.path: each.carriers for each in ORDER_FIELDS}
PICKUP_POINT_CODES: Final = "|".join(carrier.pickup_point_code.pattern for carrier in CARRIERS.values())
LABEL_ID_FORM: Final[Json] = {"pattern": f"^[0-9A-Z]{{{LABEL_ID_LENGTH}}}$", "maxLength": None}
# Those of a label, in an answer of its own and in a list.
LABEL_DETAILS: Final[dict[str, Json]] = {
    "id": LABEL_ID_FORM,
    "shopId": {"pattern": "^[A-Za-z0-9_-]{1,64}$", "maxLength": 64},
    "orderId": {"maxLength": 255, "minLength": 1},
    "trackingNumber": {"minLength": 1, "maxLength": None},
    "weight": {"exclusiveMinimum": 0, "maximum": MAX_PARCELS * labels.MAX_WEIGHT_KG},
    "createdAt": {"format": "date-time", "pattern": "Z$", "maxLength": None},
}
# Details that no field declares, because nothing needs them at run time; None removes a declared one.
DETAILS: Final[dict[tuple[str, str], Json]] = {
    ("Parcel", "shopId"): {"pattern": "^[A-Za-z0-9_-]{1,64}$", "maxLength": 64},
    **{(name, field): facts for name in ("Label", "ListedLabel") for field, facts in LABEL_DETAILS.items()},
    ("Label", "labelUrl"): {"format": "uri", "maxLength": None},
    ("ListedLabel", "reference"): {"maxLength": labels.MAX_REFERENCE_LENGTH},
    ("ListedParcel", "trackingNumber"): {"minLength": 1, "maxLength": None},
    ("ListedParcel", "weight"): {"exclusiveMinimum": 0, "maximum": labels.MAX_WEIGHT_KG},
    ("ListedParcel", "reference"): {"maxLength": labels.MAX_REFERENCE_LENGTH},
    ("Cancellation", "id"): LABEL_ID_FORM,
    ("LabelOrder", "reference"): {"maxLength": max(carrier.max_reference_length for carrier in CARRIERS.values())},
    ("LabelOrder", "pickupPointCode"): {"pattern": f"^({PICKUP_POINT_CODES})?$", "maxLength": None},
    ("LabelOrder", "parcels"): {"minItems": 1, "maxItems": MAX_PARCELS},
    ("NewWebhook", "eventTypes"): {"minItems": 1},
    ("WebhookChange", "eventTypes"): {"minItems": 1},
    ("Customs", "items"): {"minItems": 1, "maxItems": MAX_ITEMS},
    ("RecipientAddress", "email"): {"pattern": "^$|@"},
}


def schema_of(field: serializers.Field[Any, Any, Any, Any]) -> Json:
    """Return a strict field's JSON Schema, without the keywords common to all fields."""
    match field:
        case serializer_fields.ChoiceField():
            return {"type": "string", "enum": list(field.choices)}
        case addresses.CountryField():
            return {"type": "string", "enum": sorted(addresses.COUNTRY_CODES)}
        case serializer_fields.StringField() if type(field) not in PLAIN:
            return {"type": "string"} | dict(string_bounds(field))
        case serializer_fields.AmountField():
            step = {"multipleOf": 0.01} if isinstance(field, serializer_fields.CentsField) else {}
            return {"type": "number", "exclusiveMinimum": 0, "maximum": field.max_value} | step
        case serializer_fields.IntegerField():
            return {"type": "integer", "format": "int64", "minimum": field.min_value, "maximum": field.max_value}
    return PLAIN[type(field)]


def string_bounds(field: serializer_fields.StringField) -> Iterator[tuple[str, Any]]:
    yield "maxLength", field.max_length
    match field:
        case parcels.PatternField():
            yield "pattern", f"^{field.pattern.pattern}$"
        case parcels.UrlField():
            yield "format", "uri"
        case serializer_fields.CodeField():
            yield "pattern", f"^({field.pattern.pattern})$" if field.required else f"^({field.pattern.pattern})?$"
        case addresses.TextField():
            yield "minLength", 1
            yield "pattern", r"\S"
        case _ if field.min_length:
            yield "minLength", field.min_length


class StrictFieldSchema(OpenApiSerializerFieldExtension):
    """Describes strict fields."""

    target_class = "shops.api.serializer_fields.StrictField"
    match_subclasses = True
    target: serializer_fields.StrictField

    def get_name(self) -> str | None:
        """Name the enumerations that several objects share."""
        match self.target:
            case addresses.CountryField():
                return "CountryCode"
            case parcels.StatusField():
                return "TrackingStatus"
            case serializer_fields.ChoiceField():
                return {"carrierCode": "CarrierCode", "productCode": "ProductCode"}.get(self.target.field_name or "")
        return None

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> Json:
        schema = schema_of(self.target)
        if isinstance(self.target, parcels.StatusField):
            meanings = "\n".join(f"* `{status}`: {status.label}." for status in TrackingStatus)
            return schema | {"description": f"Where a parcel is.\n\n{meanings}"}
        return schema


class ObjectSchema(OpenApiSerializerExtension):
    """Names objects, adds examples to their fields, and closes those in answers to further fields."""

    target_class = "rest_framework.serializers.Serializer"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return COMPONENTS[type(self.target)].name

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> Json:
        schema: Json = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        component = COMPONENTS[type(self.target)]
        fields = self.target.fields
        schema["description"] = component.meaning
        schema["properties"] = {
            name: property_of(part, fields[name], component) for name, part in schema["properties"].items()
        }
        if direction == "response":
            schema |= {"required": list(schema["properties"]), "additionalProperties": False}
        return schema


def property_of(schema: Json, field: serializers.Field[Any, Any, Any, Any], component: Component) -> Json:
    """Complete a field's schema with its example and details."""
    name = str(field.field_name)
    if isinstance(field, serializer_fields.AnyField):
        schema = {"description": schema["description"]}
    # With a default, some code generators make an order's field required.
    schema = schema | dict.fromkeys(("readOnly", "title", "default")) | DETAILS.get((component.name, name), {})
    if carriers := at_carriers(component, name):
        schema["description"] = f"{schema['description']}\n\n{carriers}"
    return {key: value for key, value in schema.items() if value is not None} | {"examples": [component.example[name]]}


def at_carriers(component: Component, name: str) -> str:
    """Tell where a field of an order goes at each carrier, where it is not simply sent or kept."""
    cases = CASES.get(f"{PREFIXES[component.name]}{name}", {}) if component.name in PREFIXES else {}
    words = {carrier: described(each) for carrier, each in cases.items()}
    is_plain = all(len(each) == 1 and not each[0].limit and not each[0].is_ignored for each in cases.values())
    return "" if is_plain else "\n".join(f"* {carrier}: {text}." for carrier, text in words.items())


class BearerScheme(OpenApiAuthenticationExtension):
    """Describes the access token."""

    target_class = "shops.api.authentication.BearerAuthentication"
    name = "accessToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> Json:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": (
                "The shop's access token: `Authorization: Bearer <ACCESS_TOKEN>`. It identifies the shop. That of a"
                " test shop begins with `pts_test_`."
            ),
        }
