"""A label's order in the carriers' terms."""

from decimal import Decimal

from django.utils import timezone

from carriers.base import CustomsArticle, Package, Party, PickupPoint, Shipment
from labels.models import CarrierContract, ShippingLabel


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


def party(address: dict[str, str]) -> Party:
    """Read an address in the API's fields, a label's sender or recipient."""
    return Party(
        first_name=address["firstName"],
        last_name=address["lastName"],
        address1=address["address1"],
        zip_code=address["zip"],
        city=address["city"],
        country_code=address["countryCode"],
        phone=address["phone"],
        email=address.get("email", ""),
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
