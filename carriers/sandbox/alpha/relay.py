"""Compares a parcel's recipient with the relay that it is sent to."""

import re

from anyascii import anyascii

from carriers.sandbox.alpha import tables
from carriers.sandbox.alpha.shipment import Fields, Shipment
from carriers.sandbox.pickup_points import PickupPoint, point_of

NO_LOCKERS = ("5X", "6B")  # which are searched with type C


def misrouted_by(shipment: Shipment, index: int) -> tuple[str, ...]:
    """Return the fields that are not the relay's own: the carrier sells the label and sorts by them all the same."""
    skybill = shipment.skybills[index]
    if not tables.PRODUCTS[skybill["productCode"]].is_relay:
        return ()
    relay = point_of("alpha", shipment.refs[index]["idRelais"])
    is_locker_refused = skybill["productCode"] in NO_LOCKERS and relay is not None and relay.is_locker
    if relay is None or is_locker_refused or not relay.is_open or float(skybill["weight"]) > relay.max_weight_kg:
        return ("idRelais",)
    return _differences(shipment.one("recipientValue"), relay)


def as_accepted(text: str) -> str:
    """Return a text as the carrier takes it: letters spelled out, hyphens inside, a space for every other symbol."""
    spelled = "".join(anyascii(char) if char.isalnum() else char if char == "-" else " " for char in text)
    return " ".join(re.sub(r"(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])", " ", spelled).split()).upper()


def _differences(recipient: Fields, relay: PickupPoint) -> tuple[str, ...]:
    street = f"{relay.address1} {relay.address2 or relay.address3}"
    sent_street = f"{recipient['recipientAdress1']} {recipient.get('recipientAdress2', '')}"
    pairs = {
        "recipientName": (recipient["recipientName"], relay.name),
        "recipientAdress1": (sent_street, street),
        "recipientZipCode": (recipient["recipientZipCode"], relay.zip_code),
        "recipientCity": (recipient["recipientCity"], relay.city),
        "recipientCountry": (recipient["recipientCountry"], relay.country),
    }
    return tuple(name for name, (sent, own) in pairs.items() if as_accepted(sent) != as_accepted(own))
