"""The types of events, each with the data that it tells: ids, numbers, status and times, nothing personal."""

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
TEXTS: Schema = {"type": "array", "items": TEXT}
TIME_OR_NULL: Schema = {"type": ["integer", "null"], "format": "int64"}


@dataclass(frozen=True)
class Field:
    """A field of an event's data: its JSON schema, its meaning and an example."""

    schema: Schema
    meaning: str
    example: Any


@dataclass(frozen=True)
class EventType:
    """A type of event: when it is told, and what of."""

    summary: str
    fields: dict[str, Field]


LABEL = {
    "id": Field(TEXT, "the label's id", "0RCRUGWGBZDJINQ"),
    "orderId": Field(TEXT, "the order's id", "5400000001"),
    "carrierCode": Field(TEXT, "the carrier", "alpha"),
    "productCode": Field(TEXT, "the product that was ordered", "alpha-13"),
}
NUMBERS = Field(TEXTS, "the parcels' tracking numbers, in the order of the parcels", ["XY123456789FR"])
ENDPOINT_ID = Field(TEXT, "the endpoint's id", "we_a1b2c3d4e5f60718")

EVENT_TYPES = {
    "parcel.status_changed": EventType(
        "A parcel has another status, reported by its carrier, by an import or by staff.",
        {
            "id": Field(TEXT, "the parcel's id", "P00001"),
            "orderId": Field(TEXT, "the order's id", "5400000001"),
            "orderNumber": Field(TEXT, "the order's number", "#1001"),
            "trackingId": Field(TEXT, "the parcel's main tracking number", "6A00000000001"),
            "trackingNumbers": Field(TEXTS, "all its tracking numbers", ["6A00000000001"]),
            "carrierCode": Field(TEXT, "the carrier", "beta"),
            "status": Field(TEXT_OR_NULL, "the status now, as `lastStatus` of the parcel", "OUT_FOR_DELIVERY"),
            "previousStatus": Field(TEXT_OR_NULL, "the status before; null for a parcel's first", "IN_TRANSIT"),
            "statusUpdatedAt": Field(
                TIME_OR_NULL, "since when, in Unix milliseconds, as `lastStatusUpdatedAt`", 1_790_000_000_000
            ),
        },
    ),
    "label.generated": EventType(
        "A label is bought and can be retrieved; told of every label, also of one that was answered with it.",
        LABEL | {"trackingNumbers": NUMBERS},
    ),
    "label.failed": EventType(
        "A purchase that was answered with `..._OUTCOME_UNKNOWN` or no answer at all is settled: no label was made.",
        LABEL | {"code": Field(TEXT, "the error code", "ALPHA_UNAVAILABLE")},
    ),
    "label.cancelled": EventType(
        "A label is cancelled: its parcels may not be sent.", LABEL | {"trackingNumbers": NUMBERS}
    ),
    "webhook.disabled": EventType(
        "An endpoint is disabled: nothing is delivered to it until it is enabled again. Told to the shop's others.",
        {"endpointId": ENDPOINT_ID, "reason": Field(TEXT, "why", "it answered 410")},
    ),
    "webhook.test": EventType(
        "A test that the shop or staff sent; to this endpoint alone, whatever its event types.",
        {"endpointId": ENDPOINT_ID},
    ),
}
TEST, DISABLED = "webhook.test", "webhook.disabled"
# The types that an endpoint may ask for.
SUBSCRIBABLE = tuple(name for name in EVENT_TYPES if name != TEST)
