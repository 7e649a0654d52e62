"""A label as it is ordered, and as it is answered (specification 4.3 and 2.5)."""

# ruff: noqa: N815 - the public names are camelCase

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from carriers import CARRIERS
from carriers.products import PRODUCTS, Product
from labels.models import ShippingLabel
from shops.addresses import AddressSerializer, EmailField, TextField
from shops.strict import NumberField, ObjectSerializer, StringField

MAX_WEIGHT_KG = 30
Path = list[Any]  # names in an object, indices in an array
Fault = tuple[Path, str]


class ParcelSerializer(ObjectSerializer):
    """One physical parcel; `weight` in kilograms."""

    weight = NumberField()

    def validate_weight(self, weight: float) -> float:
        if not 0 < weight <= MAX_WEIGHT_KG:
            raise serializers.ValidationError(f"must be above 0 and at most {MAX_WEIGHT_KG} kilograms.")
        return weight


class DestinationSerializer(AddressSerializer):
    """Where the parcels go."""

    email = EmailField(required=False, default="", max_length=80)


class LabelOrderSerializer(ObjectSerializer):
    """The body of a label order; every fault in it is reported at once."""

    orderId = TextField(max_length=255)
    carrierCode = StringField()
    productCode = StringField()
    reference = StringField(required=False, default="")
    pickupPointCode = StringField(required=False, default="")
    originAddress = AddressSerializer(required=False)
    destinationAddress = DestinationSerializer()
    parcels = ParcelSerializer(many=True)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Add the rules between fields, which DRF would look at only when each field by itself is right."""
        errors: dict[str, Any] = {}
        values: dict[str, Any] = {}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            if not isinstance(data, dict):
                raise
            errors = dict(error.detail)  # type: ignore[arg-type]  # of an object it is a dict
        for path, text in rule_faults(data):
            put(errors, path, text)
        if errors:
            raise serializers.ValidationError(errors)
        return values


def put(errors: dict[Any, Any], path: Path, text: str) -> None:
    """Report a fault at a JSON path, unless the field was found at fault already."""
    *outer, last = path
    for step in outer:
        inner = errors.setdefault(step, {})
        if isinstance(inner, list):  # DRF has one element an item
            inner = errors[step] = {number: item for number, item in enumerate(inner) if item}
        errors = inner
    errors.setdefault(last, [text])


def rule_faults(data: dict[str, Any]) -> Iterator[Fault]:
    """The faults that lie between fields; a field of the wrong type or missing is for its own check to report."""
    carrier_code, product_code = data.get("carrierCode"), data.get("productCode")
    if isinstance(carrier_code, str) and carrier_code not in CARRIERS:
        yield ["carrierCode"], f"must be one of {', '.join(CARRIERS)}."
    if not isinstance(product_code, str):
        return
    product = PRODUCTS.get(product_code)
    if product is None:
        yield ["productCode"], "is not a known product."
        return
    if carrier_code in CARRIERS and product.carrier != carrier_code:
        yield ["productCode"], f"is a product of {product.carrier}, not of {carrier_code}."
        return
    yield from product_faults(product, data)


def product_faults(product: Product, data: dict[str, Any]) -> Iterator[Fault]:
    carrier = CARRIERS[product.carrier]
    yield from pickup_faults(product, data)
    parcels = data.get("parcels")
    if isinstance(parcels, list):
        if not 1 <= len(parcels) <= carrier.max_parcels:
            yield ["parcels"], f"must have 1 to {carrier.max_parcels} elements for {product.carrier}."
        for number, parcel in enumerate(parcels[: carrier.max_parcels]):
            weight = parcel.get("weight") if isinstance(parcel, dict) else None
            if isinstance(weight, int | float) and weight > product.max_weight_kg:
                limit = f"must be above 0 and at most {product.max_weight_kg} kilograms for {product.code}."
                yield ["parcels", number, "weight"], limit
    reference = data.get("reference")
    if isinstance(reference, str) and len(reference) > carrier.max_reference_length:
        yield ["reference"], f"must have at most {carrier.max_reference_length} characters for {product.carrier}."


def pickup_faults(product: Product, data: dict[str, Any]) -> Iterator[Fault]:
    """A pickup point needs its code, and the customer's phone and e-mail, by which the parcel is announced."""
    if not product.needs_pickup_point:
        return
    code = data.get("pickupPointCode", "")
    if code == "":
        yield ["pickupPointCode"], f"is required for {product.code}."
    elif isinstance(code, str) and not CARRIERS[product.carrier].pickup_point_code.fullmatch(code):
        yield ["pickupPointCode"], f"is not a pickup point code of {product.carrier}."
    destination = data.get("destinationAddress")
    if isinstance(destination, dict):
        for name in ("phone", "email"):
            value = destination.get(name, "")
            if isinstance(value, str) and not value.strip():
                yield ["destinationAddress", name], f"is required for {product.code}."


def as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


class LabelSerializer(serializers.Serializer[ShippingLabel]):
    """A label as a shop sees it (specification 2.5); the context holds its freshly signed `url`."""

    id = StringField()
    shopId = StringField()
    orderId = StringField()
    carrierCode = StringField()
    productCode = StringField()
    trackingNumber = StringField()
    labelUrl = StringField()
    weight = NumberField()
    status = StringField()
    createdAt = StringField()

    def to_representation(self, instance: ShippingLabel) -> dict[str, Any]:
        return {
            "id": instance.id,
            "shopId": instance.shop_id,
            "orderId": instance.order_id,
            "carrierCode": instance.carrier_code,
            "productCode": instance.product_code,
            "trackingNumber": instance.tracking_number,
            "labelUrl": self.context["url"],
            "weight": as_number(instance.weight_kg),
            "status": instance.state,
            "createdAt": instance.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
