"""Compares a parcel's recipient with the relay that it is sent to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carriers.sandbox.alpha import tables
from carriers.sandbox.pickup_points import PickupPoint, folded, point_of

if TYPE_CHECKING:
    from carriers.sandbox.alpha.shipment import Fields, Shipment


def misrouted_by(shipment: Shipment, index: int) -> tuple[str, ...]:
    """Return the fields that are not the relay's own: the carrier sells the label and sorts by them all the same."""
    skybill = shipment.skybills[index]
    if not tables.PRODUCTS[skybill["productCode"]].is_relay:
        return ()
    relay = point_of("alpha", shipment.refs[index]["idRelais"])
    if relay is None or not relay.is_open or float(skybill["weight"]) > relay.max_weight_kg:
        return ("idRelais",)
    return _differences(shipment.one("recipientValue"), relay)


def _differences(recipient: Fields, relay: PickupPoint) -> tuple[str, ...]:
    street = relay.address1 + (relay.address2 or relay.address3)
    pairs = {
        "recipientName": (recipient["recipientName"], relay.name),
        "recipientAdress1": (recipient["recipientAdress1"] + recipient.get("recipientAdress2", ""), street),
        "recipientZipCode": (recipient["recipientZipCode"], relay.zip_code),
        "recipientCity": (recipient["recipientCity"], relay.city),
        "recipientCountry": (recipient["recipientCountry"], relay.country),
    }
    return tuple(name for name, (sent, own) in pairs.items() if folded(sent) != folded(own))
