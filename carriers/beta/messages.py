"""Build beta's requests: those for labels from a shipment, one for each parcel."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Any, Final

from carriers.beta import parties
from carriers.beta.customs import check_duties, declarations, is_ddp
from carriers.beta.parties import CARRIER, HEADERS, LINE_LENGTH, contract, field_list, own_number
from carriers.customs import is_in_union
from carriers.errors import CarrierUnavailable, OutcomeUnknown, RequestRejected
from carriers.http.transport import Request
from carriers.itinerary import destination, route_of, shipping_day
from carriers.products import BETA_OVERSEAS, MAINLAND, PRODUCTS, Product
from carriers.redaction import Redactor
from carriers.shipment import Credentials, Package, PickupPoint, Shipment
from carriers.text import CarrierField, fitting, to_latin, to_plain
from carriers.validation import RECIPIENT, all_of, references_of

PURCHASE: Final = "generateLabel"
LABEL_FORMATS: Final = {"10x15": "PDF_10x15_300dpi", "A4": "PDF_A4_300dpi"}
RETURN_TO_SENDER, DO_NOT_RETURN = 2, 3
RETURNED_FROM: Final = frozenset({"US"})

MAX_PARCELS: Final = 4
REFERENCE_LENGTH: Final = 15
WEIGHT_STEP_KG: Final = Decimal("0.01")

Json = dict[str, Any]
Fields = dict[str, str]
INSURED: Final = frozenset("DOS CDS COL HD CORE CORI COLI".split())
NOT_INSURED: Final = frozenset({"SS", "SX"})  # countries
MOST_INSURED_EUR: Final = Decimal(5000)
MOST_INSURED_AT_POINTS_EUR: Final = Decimal(1000)
LOCAL_POST: Final = 1  # of `reseauPostal`
MACHINABLE_CM: Final = 120  # the sum of the sides of the largest parcel that machines sort
_SYMBOLS: Final = re.compile(r"[^A-Za-z0-9]+")


def bodies(shipment: Shipment, point: PickupPoint | None = None) -> list[Json]:
    """Return the request of every parcel, in order; raises Rejected for a shipment that cannot be sent.

    Without `point` an order to a pickup point can be validated only: its label would go to no address of a point.
    """
    product = PRODUCTS[shipment.product_code]
    if product.needs_pickup_point:
        recipient = destination(shipment, point)
        recipient = parties.at_point(recipient, point) if point else parties.before_look_up(recipient)
        shipment = replace(shipment, recipient=recipient)
    parts = all_of(
        lambda: [_letter(shipment, product, index) for index in range(len(shipment.packages))],
        lambda: declarations(shipment),
    )
    return [
        {
            "outputFormat": {"x": 0, "y": 0, "outputPrintingType": LABEL_FORMATS[shipment.label_format]},
            "letter": letter | {name: letter.get(name, {}) | block for name, block in blocks.items()},
            "fields": fields,
        }
        for letter, (blocks, fields) in zip(*parts, strict=True)
    ]


def message(body: Json, shipment: Shipment, credentials: Credentials, links: Fields | None = None) -> Json:
    """Return the body of one call; the carrier refuses a day that is over when the call arrives."""
    service = body["letter"]["service"] | {"depositDate": shipping_day(shipment).isoformat()}
    fields = (links or {}) | body["fields"] | own_number(credentials)
    return {
        **contract(credentials),
        "outputFormat": body["outputFormat"],
        "letter": body["letter"] | {"service": service},
        **field_list(fields),
    }


def request(
    base_url: str, operation: str, body: Json, credentials: Credentials, shipment: Shipment | None = None
) -> Request:
    """Return a call of the label service, whose headers may have the credentials."""
    url, redactor = url_of(base_url, operation), Redactor(credentials, shipment)
    unanswered_error = OutcomeUnknown if operation == PURCHASE else CarrierUnavailable
    headers = HEADERS | ({"apiKey": credentials.api_key} if credentials.api_key else {})
    return Request(operation, url, _encoded(body), headers, redactor, unanswered_error)


def query(operation: str, url: str, body: Json, redactor: Redactor) -> Request:
    """Return a call of another service, with the credentials in the body and JSON as the answer; it makes nothing."""
    accepted = {**HEADERS, "Accept": "application/json"}
    return Request(operation, url, _encoded(body), accepted, redactor, CarrierUnavailable)


def url_of(base_url: str, operation: str) -> str:
    return f"{base_url.rstrip('/')}/{operation}"


def _encoded(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def links(shipment: Shipment, rank: int, followers: Sequence[str]) -> Fields:
    """Return the fields that link several parcels, overseas only; the last parcel, the master, names the others."""
    count = len(shipment.packages)
    if count == 1 or shipment.recipient.country_code not in BETA_OVERSEAS:
        return {}
    is_master = rank == count
    kind = {"TYPE_MULTI_PARCEL": "MASTER" if is_master else "FOLLOWER"}
    position = {"PARCEL_ITERATION_NUMBER": str(rank), "TOTAL_NUMBER_PARCEL": str(count)}
    return kind | position | ({"LIST_FOLLOWER_PARCEL": "/".join(followers)} if is_master else {})


def _letter(shipment: Shipment, product: Product, index: int) -> Json:
    package, is_at_point = shipment.packages[index], product.needs_pickup_point
    sold, sender, recipient, instructions, references = all_of(
        lambda: _sold(shipment, product, package),
        lambda: parties.sender(shipment.sender),
        lambda: parties.recipient(shipment.recipient, is_at_point=is_at_point, is_duty_paid=is_ddp(shipment)),
        lambda: _instructions(shipment),
        lambda: references_of(CARRIER, shipment, REFERENCE_LENGTH, to_latin),
    )
    point = {"pickupLocationId": shipment.pickup_point_code} if is_at_point else {}
    # Rounded up: a weight below the one on the carrier's scale would be a false declaration.
    weight_kg = package.weight_kg.quantize(WEIGHT_STEP_KG, ROUND_UP)
    parcel = {"weight": float(weight_kg), **point, **sold["parcel"], **instructions, **_size(shipment, package)}
    return {
        "service": {**sold["service"], **_service(shipment)},
        "parcel": parcel,
        "sender": {"senderParcelRef": references[index] or shipment.id, "address": sender},
        "addressee": {"address": recipient},
    }


def _sold(shipment: Shipment, product: Product, package: Package) -> Json:
    """Return the carrier's code, and what it allows: duties paid by the sender, and insurance."""
    code = route_of(shipment, package).carrier_code
    _, insurance = all_of(
        lambda: check_duties(shipment, code),
        lambda: _insurance(shipment, code, is_at_point=product.needs_pickup_point),
    )
    return {"service": {"productCode": code}, "parcel": insurance}


def _size(shipment: Shipment, package: Package) -> Json:
    """Return what is said of a large parcel: its sides are for the duties, which no pickup product has."""
    sides = (package.length_cm, package.width_cm, package.height_cm)
    return {"nonMachinable": True} if is_ddp(shipment) and sum(filter(None, sides)) > MACHINABLE_CM else {}


def _service(shipment: Shipment) -> Json:
    country_code = shipment.recipient.country_code
    service: Json = {"orderNumber": shipment.id, "commercialName": _commercial_name(shipment)}
    if country_code not in MAINLAND:
        service["returnTypeChoice"] = RETURN_TO_SENDER if country_code in RETURNED_FROM else DO_NOT_RETURN
    if country_code == "ES" and not is_in_union(shipment.recipient):  # there the carrier leaves no choice of it
        service["reseauPostal"] = LOCAL_POST
    return service


def _commercial_name(shipment: Shipment) -> str:
    """Return the shop's name for its customers: the contract's, else the sender's."""
    names = (shipment.commercial_name, shipment.sender.company, shipment.sender.last_name)
    field = CarrierField(CARRIER, "commercialName", LINE_LENGTH, RequestRejected)
    return fitting(next(filter(None, (to_latin(name, field) for name in names)), ""), field)


def _insurance(shipment: Shipment, carrier_code: str, *, is_at_point: bool) -> Json:
    """Return a parcel's insured value in cents; raises RequestRejected where the carrier insures none or less."""
    value_eur = shipment.insured_value_eur
    if value_eur is None:
        return {}
    if carrier_code not in INSURED:
        raise RequestRejected(CARRIER, f"is not offered by this product ({carrier_code})", field="insuredValue")
    if shipment.recipient.country_code in NOT_INSURED:
        raise RequestRejected(CARRIER, f"is not offered to {shipment.recipient.country_code}", field="insuredValue")
    most_eur = MOST_INSURED_AT_POINTS_EUR if is_at_point else MOST_INSURED_EUR
    if not 0 < value_eur <= most_eur:
        problem = f"is not above 0 and at most {most_eur} EUR with this product"
        raise RequestRejected(CARRIER, problem, field="insuredValue")
    return {"insuranceValue": int((value_eur * 100).to_integral_value(ROUND_HALF_UP))}


def _instructions(shipment: Shipment) -> Json:
    """Return the words to the driver in letters and digits: accents spelled out, other symbols as a space."""
    field = CarrierField(CARRIER, f"{RECIPIENT}.instructions", LINE_LENGTH, RequestRejected)
    words = _SYMBOLS.sub(" ", to_plain(shipment.instructions, field)).strip()
    return {"instructions": fitting(words, field)} if words else {}
