"""A shop's order: its sender, its contract, its row, and the shipment that the carrier is asked for.

The validated body has the names of the row's columns, as `LabelOrderSerializer` declares them.
"""

import logging
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from rest_framework.exceptions import ValidationError

from carriers import CARRIERS
from carriers.base import Carrier
from carriers.customs import customs_of
from carriers.errors import CredentialsRejected, Rejected
from carriers.itinerary import destination
from carriers.products import PRODUCTS
from carriers.shipment import DEFAULT_FORMAT, Credentials, Customs, CustomsItem, Package, Shipment
from labels.idempotency import IdempotencyKey
from labels.ids import new_label_id
from labels.models import ShippingLabel, lease
from labels.order_rules import late_faults
from shops.api.errors.coded import product_not_activated
from shops.api.errors.exceptions import ApiError
from shops.contracts.accounts import credentials_for, number_for
from shops.contracts.addresses import party
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.db.bulk import instance

logger = logging.getLogger("labels.purchase")


def completed(order: dict[str, Any], sender_address: dict[str, str] | None) -> dict[str, Any]:
    """Return the order with a sender, by default the shop's own.

    Raise ValidationError for what a replay is never refused for: no sender, or a day that is over by now.
    """
    product, has_sender = PRODUCTS[order["product_code"]], "sender" in order or sender_address is not None
    if faults := dict(late_faults(product, order.get("ship_on"), has_sender=has_sender)):
        raise ValidationError(faults)
    return {"sender": sender_address} | order


def check_product(contract: CarrierContract | None, product: str) -> CarrierContract:
    """Return the contract to buy on; raise ApiError where there is none for the product."""
    if contract is None or not contract.has_product(product):
        carrier = PRODUCTS[product].carrier
        raise ApiError(product_not_activated(carrier), carrier=carrier, product=product)
    return contract


def credentials_on(contract: CarrierContract, product_code: str) -> Credentials:
    """Return the credentials of the account that the product is bought on; raise CredentialsRejected."""
    try:
        return credentials_for(contract, number_for(contract, product_code))
    except UnreadableSecretError as error:
        logger.error("carrier not asked", extra={"contract": contract.id, "reason": str(error)})  # noqa: TRY400 - known
        raise CredentialsRejected(contract.carrier_code, "they can't be read") from error


def new_label(
    *, contract: CarrierContract, order: dict[str, Any], key: IdempotencyKey | None, token_id: str
) -> ShippingLabel:
    """Make the row of an order that has its sender, leased from now on; it is not saved."""
    created_at, leased_until = beginning(contract.carrier_code, len(order["weights_kg"]))
    return instance(
        ShippingLabel,
        id=new_label_id(created_at),
        account_number=number_for(contract, order["product_code"]),
        created_at=created_at,
        leased_until=leased_until,
        shop_id=contract.shop_id,
        token_id=token_id,
        idempotency_key=key.value if key else None,
        body_digest=key.body_digest if key else "",
        **{"label_format": contract.label_format} | order,
    )


def beginning(carrier_code: str, parcel_count: int) -> tuple[datetime, datetime]:
    """Return the moment of an order that begins now, and the end of its lease for all calls of its purchase."""
    ordered_at = clock.upper_bound_now()
    return ordered_at, lease(ordered_at, calls=CARRIERS[carrier_code].call_count(parcel_count))


def shipment(label: ShippingLabel, contract: CarrierContract) -> Shipment:
    """Make the shipment of a row, on the contract that it is ordered on."""
    count = len(label.weights_kg)
    sides = label.sides_cm or [[None, None, None]] * count
    references = label.parcel_references or [""] * count
    return Shipment(
        id=label.id,
        product_code=label.product_code,
        sender=party(label.sender),
        recipient=party(label.recipient),
        packages=tuple(
            Package(Decimal(weight), length_cm, width_cm, height_cm, reference)
            for weight, (length_cm, width_cm, height_cm), reference in zip(
                label.weights_kg, sides, references, strict=True
            )
        ),
        reference=label.reference,
        pickup_point_code=label.pickup_point_code,
        commercial_name=contract.commercial_name,
        customs=declared(label.customs, contract) if label.customs else contract.customs,
        override=contract.override(label.product_code),
        ship_on=label.ship_on,
        instructions=label.recipient.get("instructions", ""),
        insured_value_eur=label.insured_value_eur,
        label_format=label.label_format or DEFAULT_FORMAT,
    )


def declared(customs: dict[str, Any], contract: CarrierContract) -> Customs:
    """Make the carrier's declaration of the order's own; without a postage it is the contract's."""
    return Customs(
        items=tuple(
            CustomsItem(
                description=item["description"],
                quantity=item["quantity"],
                unit_value_eur=Decimal(item["unitValue"]),
                weight_kg=Decimal(item["weight"]),
                hs_code=item["hsCode"],
                origin_country_code=item["originCountry"],
                parcel=item.get("parcel"),
            )
            for item in customs["items"]
        ),
        shipping_cost_eur=Decimal(customs["shippingCost"]) if customs["shippingCost"] else contract.shipping_cost_eur,
        invoice_number=customs["invoiceNumber"],
        eori=customs["eori"],
        comments=customs["comments"],
        is_duties_paid_by_sender=customs["dutiesPaidBySender"],
    )


def check_customs(carrier: Carrier, ordered: Shipment, credentials: Credentials) -> None:
    """Raise Rejected where the destination needs a declaration and there is none, or its goods don't fit.

    It names all else, too, for which the order can't be sent.
    """
    at_destination = replace(ordered, recipient=destination(ordered, None))
    try:
        if customs := customs_of(carrier.name, at_destination):
            carrier.goods_by_parcel(carrier.name, at_destination, customs)
    except Rejected:
        carrier.check_shipment(ordered, credentials)
        raise
