"""The parcel's public fields, declared once: they validate imports and describe answers."""

# ruff: noqa: N815 - the public names are camelCase

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

from rest_framework import serializers

from parcels.models import MAX_KEY_LENGTH, TrackingStatus
from shops.api.http_url import is_http_url
from shops.api.serializer_fields import (
    AnyField,
    ArrayField,
    BooleanField,
    ChoiceField,
    CodeField,
    IntegerField,
    ListOfField,
    NumberField,
    ObjectSerializer,
    StringField,
)

MAX_EVENTS = 1000
MIN_TIME_MS = 946_684_800_000  # the year 2000; a time of today in seconds is below it
MAX_TIME_MS = 253_402_300_799_999  # the end of the year 9999


TimeField = partial(IntegerField, min_value=MIN_TIME_MS, max_value=MAX_TIME_MS)  # Unix time in milliseconds
KeyStringField = partial(StringField, min_length=1, max_length=MAX_KEY_LENGTH)  # that something is found or shown by


def nullable(field: Callable[..., Any], **options: Any) -> Any:
    """Declare a field that may be null, and is null when left out."""
    return field(allow_null=True, default=None, **options)


def check_key(key: str) -> None:
    """Refuse a key that can't stand in a page's address, from which the parts `.` and `..` are removed."""
    if key in {".", ".."}:
        raise serializers.ValidationError("must not be . or .., as no address leads to it.")


def check_number(number: str) -> None:
    """Refuse a number that can't be looked up, as the path may not end in a slash."""
    if number.endswith("/"):
        raise serializers.ValidationError("must not end in a slash, as no look-up finds it.")


def check_web_address(url: str) -> None:
    if not is_http_url(url):
        raise serializers.ValidationError("must be an http or https URL.")


class StatusField(ChoiceField):
    def __init__(self, **options: Any) -> None:
        super().__init__(TrackingStatus.values, **options)


class DestinationSerializer(ObjectSerializer):
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
    countryCode = CodeField(r"[A-Z]{2}", "an ISO 3166-1 alpha-2 country code")
    phone = CodeField(r"(\+[0-9][0-9 ().-]{3,30})?", "a phone number in international format")
    latitude = nullable(NumberField, min_value=-90, max_value=90)
    longitude = nullable(NumberField, min_value=-180, max_value=180)
    isPickupPoint = BooleanField()


class LineItemSerializer(ObjectSerializer):
    lineItemId = StringField()
    name = StringField()
    imageUrl = StringField(max_length=2048, validators=[check_web_address])
    sku = StringField()
    quantity = IntegerField()
    price = NumberField()
    productId = StringField()
    metadata = nullable(AnyField)


class EventSerializer(ObjectSerializer):
    status = StatusField()
    createdAt = TimeField()
    label = StringField()  # type: ignore[assignment]  # a field of the API, not DRF's label of a serializer
    carrierStatusCode = nullable(StringField)
    isNotificationSkipped = BooleanField()
    notifications = ArrayField()


class CarrierStatusSerializer(ObjectSerializer):
    code = StringField()
    description = StringField()
    date = TimeField()


class DeliveryWindowSerializer(ObjectSerializer):
    exactDeliveryDay = TimeField()
    minimumDeliveryDate = TimeField()
    maximumDeliveryDate = TimeField()


class ParcelSerializer(ObjectSerializer):
    """A parcel as a shop sees it; each field is stored in the model's field that `source` names."""

    id = KeyStringField(validators=[check_key])
    shopId = StringField(source="shop_id", read_only=True)
    orderId = StringField(source="order_id", max_length=MAX_KEY_LENGTH)
    orderNumber = StringField(source="order_number", max_length=MAX_KEY_LENGTH)
    trackingId = KeyStringField(source="tracking_id", validators=[check_number])
    trackingNumbers = ListOfField(
        source="tracking_numbers", child=KeyStringField(validators=[check_number]), max_length=1000
    )
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


class ImportedParcelSerializer(ParcelSerializer):
    """A parcel as it is imported, with the internal fields that no answer shows."""

    customerEmail = nullable(StringField, source="customer_email", max_length=320)
    customerLocale = nullable(StringField, source="customer_locale", max_length=64)
    previousEmails = ListOfField(source="previous_emails", child=StringField(), allow_null=True, default=list)
    giftConfig = nullable(AnyField, source="gift_config")
    crossSellRecommendations = ArrayField(source="cross_sell_recommendations", allow_null=True, default=list)
    webTemplate = nullable(StringField, source="web_template", max_length=MAX_KEY_LENGTH)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Turn null into an empty list."""
        return attrs | {name: attrs[name] or [] for name in ("previous_emails", "cross_sell_recommendations")}

    def validate_events(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(events) > MAX_EVENTS:
            raise serializers.ValidationError(f"must have at most {MAX_EVENTS} elements.")
        return sorted(events, key=itemgetter("createdAt"), reverse=True)
