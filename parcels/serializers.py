"""The parcel's public shape (specification 2.1 to 2.4), declared once: imports are validated and answers made by it."""

# ruff: noqa: N815 - the public names are camelCase

import re
from collections.abc import Sequence
from typing import Any

import orjson
from django.core.exceptions import ValidationError as InvalidValue
from django.core.validators import URLValidator
from rest_framework import serializers

from parcels.fields import JSONTextField
from parcels.models import MAX_KEY_LENGTH, Parcel, TrackingStatus
from shops.strict import (
    AnyField,
    ArrayField,
    BooleanField,
    IntegerField,
    ListOfField,
    NumberField,
    ObjectSerializer,
    StringField,
)

MAX_TIME_MS = 253_402_300_799_999  # the end of the year 9999


def nullable(field: type[Any], **options: Any) -> Any:
    """A field that may be null, and is when it is left out."""
    return field(allow_null=True, default=None, **options)


class TimeField(IntegerField):
    """Unix time in milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_TIME_MS, **options)


class KeyStringField(StringField):
    """A string that something is found or shown by: not empty."""

    def __init__(self, *, max_length: int = MAX_KEY_LENGTH, **options: Any) -> None:
        super().__init__(min_length=1, max_length=max_length, **options)


class StatusField(StringField):
    """A tracking status (specification 3.1)."""

    def to_internal_value(self, data: Any) -> str:
        status = super().to_internal_value(data)
        if status not in TrackingStatus.values:
            raise serializers.ValidationError(f"must be one of {', '.join(TrackingStatus.values)}.")
        return status


class PatternField(StringField):
    """A string that matches a regular expression as a whole."""

    def __init__(self, meaning: str, pattern: str, **options: Any) -> None:
        super().__init__(**options)
        self.meaning = meaning
        self.pattern = re.compile(pattern)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not self.pattern.fullmatch(text):
            raise serializers.ValidationError(f"must be {self.meaning}.")
        return text


class UrlField(StringField):
    """An http or https URL."""

    is_url = URLValidator(schemes=["http", "https"])

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        try:
            self.is_url(url)
        except InvalidValue:
            raise serializers.ValidationError("must be an http or https URL.") from None
        return url


class DestinationSerializer(ObjectSerializer):
    """Where the parcel goes (specification 2.2)."""

    firstName = StringField()
    lastName = StringField()
    name = StringField()
    company = StringField()
    address1 = StringField()
    address2 = nullable(StringField)
    city = StringField()
    zip = StringField()
    province = StringField()
    provinceCode = StringField()
    country = StringField()
    countryCode = PatternField("an ISO 3166-1 alpha-2 country code", r"[A-Z]{2}")
    phone = PatternField("a phone number in international format", r"(\+[0-9][0-9 ().-]{3,30})?")
    latitude = nullable(NumberField)
    longitude = nullable(NumberField)
    isPickupPoint = BooleanField()


class LineItemSerializer(ObjectSerializer):
    """An article in the parcel (specification 2.3)."""

    lineItemId = StringField()
    name = StringField()
    imageUrl = UrlField(max_length=2048)
    sku = StringField()
    quantity = IntegerField()
    price = NumberField()
    productId = StringField()
    metadata = nullable(AnyField)


class EventSerializer(ObjectSerializer):
    """A step of the parcel's history (specification 2.4)."""

    status = StatusField()
    createdAt = TimeField()
    label = StringField()  # type: ignore[assignment]  # a field of the API, not DRF's label of a serializer
    carrierStatusCode = nullable(StringField)
    isNotificationSkipped = BooleanField()
    notifications = ArrayField()


class CarrierStatusSerializer(ObjectSerializer):
    """The carrier's own last word on the parcel."""

    code = StringField()
    description = StringField()
    date = TimeField()


class DeliveryWindowSerializer(ObjectSerializer):
    """When the parcel is expected."""

    exactDeliveryDay = TimeField()
    minimumDeliveryDate = TimeField()
    maximumDeliveryDate = TimeField()


class ParcelSerializer(ObjectSerializer):
    """A parcel as a shop sees it (specification 2.1), each field stored in the model's field of its `source`."""

    id = KeyStringField()
    shopId = StringField(source="shop_id", read_only=True)
    orderId = StringField(source="order_id", max_length=MAX_KEY_LENGTH)
    orderNumber = StringField(source="order_number", max_length=MAX_KEY_LENGTH)
    trackingId = KeyStringField(source="tracking_id")
    trackingNumbers = ListOfField(source="tracking_numbers", child=KeyStringField(), max_length=1000)
    carrierCode = KeyStringField(source="carrier_code", max_length=64)
    carrierProduct = nullable(StringField, source="carrier_product", max_length=MAX_KEY_LENGTH)
    carrierDisplayName = nullable(StringField, source="carrier_display_name", max_length=MAX_KEY_LENGTH)
    lastStatus = nullable(StatusField, source="last_status")
    lastStatusUpdatedAt = nullable(TimeField, source="last_status_updated_at")
    carrierLastStatus = nullable(CarrierStatusSerializer, source="carrier_last_status")
    estimatedDeliveryDateWindow = nullable(DeliveryWindowSerializer, source="estimated_delivery_date_window")
    deliveryDate = nullable(TimeField, source="delivery_date")
    endDepositDate = nullable(TimeField, source="end_deposit_date")
    destination = DestinationSerializer()
    lineItems = LineItemSerializer(source="line_items", many=True)
    events = EventSerializer(many=True)
    createdAt = TimeField(source="created_at")
    updatedAt = TimeField(source="updated_at")

    def to_representation(self, instance: Sequence[Any]) -> dict[str, Any]:
        """Lay out one row of `COLUMNS`; nested parts are JSON text already and pass as they are."""
        return {
            name: orjson.Fragment(value) if is_json and value is not None else value
            for (name, is_json), value in zip(LAYOUT, instance, strict=True)
        }


class ImportedParcelSerializer(ParcelSerializer):
    """A parcel as it is imported: with what is held internally and never shown."""

    customerEmail = nullable(StringField, source="customer_email", max_length=320)
    customerLocale = nullable(StringField, source="customer_locale", max_length=64)
    previousEmails = ListOfField(source="previous_emails", child=StringField(), default=list)
    giftConfig = nullable(AnyField, source="gift_config")
    crossSellRecommendations = ArrayField(source="cross_sell_recommendations", default=list)
    webTemplate = nullable(StringField, source="web_template", max_length=MAX_KEY_LENGTH)

    def validate_events(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(events, key=lambda event: event["createdAt"], reverse=True)


FIELDS = ParcelSerializer().fields
# What an answer is made of: the model's columns in the order of the public fields, and which of them are JSON text.
COLUMNS = tuple(str(field.source) for field in FIELDS.values())
LAYOUT = tuple(
    (name, isinstance(Parcel._meta.get_field(column), JSONTextField))
    for name, column in zip(FIELDS, COLUMNS, strict=True)
)
