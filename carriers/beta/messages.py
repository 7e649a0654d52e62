"""Build beta's label requests from a shipment: one for each parcel."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_UP, Decimal
from typing import Any, Final

from carriers.beta import parties
from carriers.beta.customs import Declaration, check_duties, declarations
from carriers.beta.parties import CARRIER, LINE_LENGTH
from carriers.errors import RequestRejected
from carriers.products import BETA_OVERSEAS, MAINLAND, PARIS, Product
from carriers.shipment import Credentials, Package, Party, PickupPoint, Shipment
from carriers.text import CarrierField, fitting, to_latin
from carriers.validation import all_of, checked_product, route_of

LABEL_FORMAT: Final = "PDF_10x15_300dpi"
DO_NOT_RETURN: Final = 3

PICKUP_POINT_CODE: Final = re.compile(r"[0-9]{6}")
MAX_PARCELS: Final = 4
REFERENCE_LENGTH: Final = 15
WEIGHT_STEP_KG: Final = Decimal("0.01")

Json = dict[str, Any]
Fields = dict[str, str]


def bodies(shipment: Shipment, point: PickupPoint | None = None) -> list[Json]:
    """Return the request of every parcel, in order; raises Rejected for a shipment that cannot be sent.

    Without `point` an order to a pickup point can be validated only: its label would go to the customer's home.
    """
    product = checked_product(CARRIER, shipment, MAX_PARCELS, PICKUP_POINT_CODE)
    if point:
        shipment = replace(shipment, recipient=parties.at_point(shipment.recipient, point))
    parts: list[Any] = all_of(
        lambda: [_letter(shipment, product, package) for package in shipment.packages],
        lambda: declarations(shipment),
    )
    return [
        {
            "outputFormat": {"x": 0, "y": 0, "outputPrintingType": LABEL_FORMAT},
            "letter": _declared(letter, declaration),
            "fields": declaration.fields,
        }
        for letter, declaration in zip(*parts, strict=True)
    ]


def message(body: Json, credentials: Credentials, links: Fields) -> Json:
    """Return the body of one call."""
    fields = [{"key": key, "value": value} for key, value in (links | body["fields"]).items()]
    contract = {"contractNumber": credentials.account_number, "password": credentials.password}
    whole = ({} if credentials.api_key else contract) | body | {"fields": {"field": fields}}
    return whole if fields else {name: value for name, value in whole.items() if name != "fields"}


def links(shipment: Shipment, rank: int, followers: Sequence[str]) -> Fields:
    """Return the fields that link several parcels, overseas only; the last parcel, the master, names the others."""
    count = len(shipment.packages)
    if count == 1 or shipment.recipient.country_code not in BETA_OVERSEAS:
        return {}
    is_master = rank == count
    kind = {"TYPE_MULTI_PARCEL": "MASTER" if is_master else "FOLLOWER"}
    position = {"PARCEL_ITERATION_NUMBER": str(rank), "TOTAL_NUMBER_PARCEL": str(count)}
    return kind | position | ({"LIST_FOLLOWER_PARCEL": "/".join(followers)} if is_master else {})


def check_sender(party: Party) -> None:
    """Raise Rejected for a sender that the carrier cannot print."""
    parties.sender(party)


def _letter(shipment: Shipment, product: Product, package: Package) -> Json:
    sender, recipient, code, reference = all_of(
        lambda: parties.sender(shipment.sender),
        lambda: parties.recipient(shipment.recipient, is_mobile_required=product.needs_pickup_point),
        lambda: {"productCode": _carrier_code(shipment, product, package)},
        lambda: {"senderParcelRef": _reference(shipment)},
    )
    parcel: Json = {"weight": float(_weight_kg(package))}
    if product.needs_pickup_point:
        parcel["pickupLocationId"] = shipment.pickup_point_code
    return {
        "service": {**code, **_service(shipment)},
        "parcel": parcel,
        "sender": {**reference, "address": sender},
        "addressee": {"address": recipient},
    }


def _declared(letter: Json, declaration: Declaration) -> Json:
    service, parcel = letter["service"] | declaration.service, letter["parcel"] | declaration.parcel
    return {**letter, "service": service, "parcel": parcel, **declaration.letter}


def _carrier_code(shipment: Shipment, product: Product, package: Package) -> str:
    code = route_of(shipment, product, package).carrier_code
    check_duties(shipment, code)
    return code


def _weight_kg(package: Package) -> Decimal:
    """Round up: a weight below the one on the carrier's scale would be a false declaration."""
    return package.weight_kg.quantize(WEIGHT_STEP_KG, ROUND_UP)


def _service(shipment: Shipment) -> Json:
    service: Json = {
        "depositDate": shipment.ship_at.astimezone(PARIS).date().isoformat(),
        "orderNumber": shipment.id,
        "commercialName": _commercial_name(shipment),
    }
    if shipment.recipient.country_code not in MAINLAND:
        service["returnTypeChoice"] = DO_NOT_RETURN
    return service


def _commercial_name(shipment: Shipment) -> str:
    """Return the shop's name for its customers: the contract's, else the sender's."""
    name = shipment.commercial_name or shipment.sender.company or shipment.sender.last_name
    field = CarrierField(CARRIER, "commercialName", LINE_LENGTH, RequestRejected)
    return fitting(to_latin(name, field), field)


def _reference(shipment: Shipment) -> str:
    field = CarrierField(CARRIER, "reference", REFERENCE_LENGTH, RequestRejected)
    return fitting(to_latin(shipment.reference, field), field) or shipment.id
