"""A shop's order: who sends, on which contract, and the row that it becomes."""

from typing import Any

from rest_framework.exceptions import ValidationError

from labels.errors import ProductNotInContractError
from labels.idempotency import IdempotencyKey
from labels.models import CarrierContract, ShippingLabel, lease
from labels.serializers import NO_SENDER


def with_sender(order: dict[str, Any], sender_address: dict[str, str] | None) -> dict[str, Any]:
    """The order with the shop's own sender address where it brings none; raise ValidationError if there is neither."""
    if "originAddress" in order:
        return order
    if sender_address is None:
        raise ValidationError({"originAddress": NO_SENDER})
    return order | {"originAddress": sender_address}


def contract_for(shop_id: str, order: dict[str, Any]) -> CarrierContract:
    """Find the contract to buy on; raise ProductNotInContractError where there is none for the product."""
    contract = CarrierContract.objects.find(shop_id=shop_id, carrier_code=order["carrierCode"])
    if contract is None or not contract.has_product(order["productCode"]):
        raise ProductNotInContractError(order["carrierCode"], order["productCode"])
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
