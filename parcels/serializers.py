"""The parcel's public fields, declared once: they validate imports and describe answers."""

# ruff: noqa: N815 - the public names are camelCase

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


def nullable(field: type[Any], **options: Any) -> Any:
    """Declare a field that may be null, and is null when left out."""
    return field(allow_null=True, default=None, **options)


class TimeField(IntegerField):
    """Unix time in milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=MIN_TIME_MS, max_value=MAX_TIME_MS, **options)


class KeyStringField(StringField):
    """A string that something is found or shown by; not empty."""

    def __init__(self, *, max_length: int = MAX_KEY_LENGTH, **options: Any) -> None:
        super().__init__(min_length=1, max_length=max_length, **options)


class AddressedKeyField(KeyStringField):
    """A key in the addresses of pages, which leave out the parts `.` and `..`."""

    def to_internal_value(self, data: Any) -> str:
        key = super().to_internal_value(data)
        if key in {".", ".."}:
            raise serializers.ValidationError("must not be . or .., as no address leads to it.")
        return key


class TrackingNumberField(KeyStringField):
    """A number that the look-up takes, whose path may not end in a slash."""

    def to_internal_value(self, data: Any) -> str:
        number = super().to_internal_value(data)
        if number.endswith("/"):
            raise serializers.ValidationError("must not end in a slash, as no look-up finds it.")
        return number


class StatusField(ChoiceField):
    def __init__(self, **options: Any) -> None:
        super().__init__(TrackingStatus.values, **options)


class UrlField(StringField):
    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        if not is_http_url(url):
            raise serializers.ValidationError("must be an http or https URL.")
        return url


class DestinationSerializer(ObjectSerializer):
    firstName = StringField(help_text="The recipient's first name.")
    lastName = StringField(help_text="The recipient's last name.")
    name = StringField(help_text="The recipient's full name.")
    company = StringField(help_text="The recipient's company; empty where there is none.")
    address1 = StringField(help_text="Street and number.")
    address2 = nullable(StringField, help_text="Further address line.")
    city = StringField(help_text="Town.")
    zip = StringField(help_text="Postal code.")
    province = StringField(help_text="Province, state or region; empty where there is none.")
    provinceCode = StringField(help_text="Short code of the province.")
    country = StringField(help_text="The country's name.")
    countryCode = CodeField(
        r"[A-Z]{2}", "an ISO 3166-1 alpha-2 country code", help_text="The country's ISO 3166-1 alpha-2 code."
    )
    phone = CodeField(
        r"(\+[0-9][0-9 ().-]{3,30})?",
        "a phone number in international format",
        help_text="The recipient's phone number in international format; empty where there is none.",
    )
    latitude = nullable(
        NumberField, min_value=-90, max_value=90, help_text="Latitude in degrees, north positive (WGS 84)."
    )
    longitude = nullable(
        NumberField, min_value=-180, max_value=180, help_text="Longitude in degrees, east positive (WGS 84)."
    )
    isPickupPoint = BooleanField(help_text="Whether the destination is a relay or pickup point.")


class LineItemSerializer(ObjectSerializer):
    lineItemId = StringField(help_text="The line item's identifier.")
    name = StringField(help_text="The article's name.")
    imageUrl = UrlField(max_length=2048, help_text="A picture of the article.")
    sku = StringField(help_text="The article's stock keeping unit.")
    quantity = IntegerField(help_text="Pieces in this parcel.")
    price = NumberField(help_text="Price of one piece, in the order's currency.")
    productId = StringField(help_text="The article's product.")
    metadata = nullable(AnyField, help_text="What the shop's system attached to the line item: any JSON value.")


class EventSerializer(ObjectSerializer):
    status = StatusField(help_text="The status the parcel took.")
    createdAt = TimeField(help_text="When it happened: Unix time in milliseconds.")
    label = StringField(help_text="The event in words.")  # type: ignore[assignment]  # a field of the API, not DRF's label of a serializer
    carrierStatusCode = nullable(
        StringField, help_text="The carrier's own code; null when the event does not come from a carrier status."
    )
    isNotificationSkipped = BooleanField(help_text="Whether the customer was not notified of it.")
    notifications = ArrayField(help_text="The notifications sent of it.")


class CarrierStatusSerializer(ObjectSerializer):
    code = StringField(help_text="The carrier's own code.")
    description = StringField(help_text="The carrier's own text for it.")
    date = TimeField(help_text="When the carrier reported it: Unix time in milliseconds.")


class DeliveryWindowSerializer(ObjectSerializer):
    exactDeliveryDay = TimeField(help_text="The most likely day: Unix time in milliseconds.")
    minimumDeliveryDate = TimeField(help_text="The earliest delivery: Unix time in milliseconds.")
    maximumDeliveryDate = TimeField(help_text="The latest delivery: Unix time in milliseconds.")


class ParcelSerializer(ObjectSerializer):
    """A parcel as a shop sees it; each field is stored in the model's field that `source` names."""

    id = AddressedKeyField(help_text="The parcel's unique identifier.")
    shopId = StringField(source="shop_id", read_only=True, help_text="The shop that owns the parcel.")
    orderId = StringField(source="order_id", max_length=MAX_KEY_LENGTH, help_text="The order the parcel belongs to.")
    orderNumber = StringField(
        source="order_number",
        max_length=MAX_KEY_LENGTH,
        help_text="The order's number as people read it; the search's orderName is compared with it.",
    )
    trackingId = TrackingNumberField(source="tracking_id", help_text="The parcel's primary tracking number.")
    trackingNumbers = ListOfField(
        source="tracking_numbers",
        child=TrackingNumberField(),
        max_length=1000,
        help_text="All of its tracking numbers; the look-up takes any of them.",
    )
    carrierCode = KeyStringField(source="carrier_code", max_length=64, help_text="The carrier, such as alpha or beta.")
    carrierProduct = nullable(
        StringField,
        source="carrier_product",
        max_length=MAX_KEY_LENGTH,
        help_text="The carrier's product, if it is known.",
    )
    carrierDisplayName = nullable(
        StringField,
        source="carrier_display_name",
        max_length=MAX_KEY_LENGTH,
        help_text="The carrier's name as people read it.",
    )
    lastStatus = nullable(
        StatusField, source="last_status", help_text="Where the parcel is now; null before the first status."
    )
    lastStatusUpdatedAt = nullable(
        TimeField, source="last_status_updated_at", help_text="When lastStatus last changed: Unix time in milliseconds."
    )
    carrierLastStatus = nullable(
        CarrierStatusSerializer,
        source="carrier_last_status",
        help_text="The carrier's latest status of the parcel.",
    )
    estimatedDeliveryDateWindow = nullable(
        DeliveryWindowSerializer, source="estimated_delivery_date_window", help_text="When the parcel is expected."
    )
    deliveryDate = nullable(
        TimeField,
        source="delivery_date",
        help_text="When it was delivered: Unix time in milliseconds; null until delivery is confirmed.",
    )
    endDepositDate = nullable(
        TimeField,
        source="end_deposit_date",
        help_text="When an unclaimed parcel goes back to the sender: Unix time in milliseconds.",
    )
    destination = DestinationSerializer(help_text="Where the parcel goes.")
    lineItems = LineItemSerializer(source="line_items", many=True, help_text="What is in the parcel.")
    events = EventSerializer(many=True, help_text="The parcel's history, newest first.")
    createdAt = TimeField(source="created_at", help_text="When the parcel was made: Unix time in milliseconds.")
    updatedAt = TimeField(source="updated_at", help_text="When it last changed: Unix time in milliseconds.")


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
