"""A shop's order: who sends, on which contract, and the row that it becomes."""

from decimal import Decimal
from typing import Any

from django.utils import timezone
from rest_framework.exceptions import ValidationError

from carriers.base import CustomsArticle, Package, PickupPoint, Shipment
from labels.idempotency import IdempotencyKey
from labels.models import ShippingLabel, lease
from labels.serializers import NO_SENDER
from shops.addresses import party
from shops.contracts.models import CarrierContract
from shops.errors.coded import product_not_activated
from shops.errors.exceptions import ApiError


def with_sender(order: dict[str, Any], sender_address: dict[str, str] | None) -> dict[str, Any]:
    """The order with the shop's own sender address where it brings none; raise ValidationError if there is neither."""
    if "originAddress" in order:
        return order
    if sender_address is None:
        raise ValidationError({"originAddress": NO_SENDER})
    return order | {"originAddress": sender_address}


def contract_for(shop_id: str, order: dict[str, Any]) -> CarrierContract:
    """Find the contract to buy on; raise ApiError where there is none for the product."""
    contract = CarrierContract.objects.find(shop_id=shop_id, carrier_code=order["carrierCode"])
    if contract is None or not contract.has_product(order["productCode"]):
        carrier = order["carrierCode"]
        raise ApiError(product_not_activated(carrier), carrier=carrier, product=order["productCode"])
    return contract


def new_label(*, shop_id: str, order: dict[str, Any], key: IdempotencyKey | None, token_id: str) -> ShippingLabel:
    """Make the row of an order that has its sender, leased from now on; it is not saved."""
    return ShippingLabel(
        shop_id=shop_id,
        token_id=token_id,
        order_id=order["orderId"],
        carrier_code=order["carrierCode"],
        product_code=order["productCode"],
        reference=order["reference"],
        pickup_point_code=order["pickupPointCode"],
        sender=order["originAddress"],
        recipient=order["destinationAddress"],
        weights_kg=[str(parcel["weight"]) for parcel in order["parcels"]],
        idempotency_key=key.value if key else None,
        body_digest=key.body_digest if key else "",
        leased_until=lease(),
    )


def shipment(label: ShippingLabel, contract: CarrierContract) -> Shipment:
    """Lay out what was ordered, on the contract it is ordered on, for the carrier's client."""
    code = label.pickup_point_code
    return Shipment(
        id=label.id,
        product_code=label.product_code,
        sender=party(label.sender),
        recipient=party(label.recipient),
        packages=tuple(Package(Decimal(weight)) for weight in label.weights_kg),
        ship_at=timezone.now(),
        reference=label.reference,
        pickup_point=PickupPoint(code) if code else None,
        commercial_name=contract.commercial_name,
        customs=customs(contract),
        override=contract.override(label.product_code),
    )


def customs(contract: CarrierContract) -> tuple[CustomsArticle, ...]:
    """The article that the contract declares; none without its description and its value."""
    if not contract.customs_description or contract.customs_value_eur is None:
        return ()
    return (
        CustomsArticle(
            description=contract.customs_description,
            value_eur=contract.customs_value_eur,
            hs_code=contract.customs_hs_code,
        ),
    )
