"""Build beta's JSON requests from a shipment: one for each parcel, linked if there are several."""

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from typing import Any, Final

from carriers import phones
from carriers.errors import RequestRejected
from carriers.products import CUSTOMS_FREE, MAINLAND, PARIS, Product
from carriers.shipment import Credentials, Package, Party, Shipment
from carriers.text import CarrierField, fitting, required, to_latin, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, checked_product, email_of, phone_of, route_of

CARRIER: Final = "beta"
LABEL_FORMAT: Final = "PDF_10x15_300dpi"
DO_NOT_RETURN: Final = 3
COMMERCIAL_GOODS: Final = 3
CURRENCY: Final = "EUR"

PICKUP_POINT_CODE: Final = re.compile(r"[0-9]{6}")
MAX_PARCELS: Final = 4
FIRST_NAME_LENGTH: Final = 29
LINE_LENGTH: Final = 35  # every other text
STREET_LINES: Final = 2  # line2 and line3
OTHER_LINES: Final = 2  # line0 and line1
REFERENCE_LENGTH: Final = 15
DESCRIPTION_LENGTH: Final = 64
PHONE_LENGTH: Final = 15
EMAIL_LENGTH: Final = 80
WEIGHT_STEP_KG: Final = Decimal("0.01")

Json = dict[str, Any]


def letters(shipment: Shipment) -> list[Json]:
    """Return the `letter` of every parcel, in order; raises Rejected for a shipment that cannot be sent."""
    product = checked_product(CARRIER, shipment, MAX_PARCELS, PICKUP_POINT_CODE)
    return [_letter(shipment, product, package) for package in shipment.packages]


def message(letter: Json, credentials: Credentials, rank: int, count: int, followers: Sequence[str]) -> Json:
    """Return the body of one call; of several parcels the last, the master, names the others."""
    body: Json = {
        "outputFormat": {"x": 0, "y": 0, "outputPrintingType": LABEL_FORMAT},
        "letter": letter,
    }
    if not credentials.api_key:
        body |= {"contractNumber": credentials.account_number, "password": credentials.password}
    if count > 1:
        body["fields"] = {"field": _links(rank, count, followers)}
    return body


def _links(rank: int, count: int, followers: Sequence[str]) -> list[Json]:
    is_master = rank == count
    links = {
        "TYPE_MULTI_PARCEL": "MASTER" if is_master else "FOLLOWER",
        "PARCEL_ITERATION_NUMBER": str(rank),
        "TOTAL_NUMBER_PARCEL": str(count),
    }
    if is_master:
        links["LIST_FOLLOWER_PARCEL"] = "/".join(followers)
    return [{"key": key, "value": value} for key, value in links.items()]


def _letter(shipment: Shipment, product: Product, package: Package) -> Json:
    sender, recipient, code, reference = all_of(
        lambda: _sender(shipment),
        lambda: _recipient(shipment, product),
        lambda: {"productCode": route_of(shipment, product, package).carrier_code},
        lambda: {"senderParcelRef": _reference(shipment)},
    )
    parcel: Json = {"weight": float(_weight_kg(package))}
    if product.needs_pickup_point and shipment.pickup_point:
        parcel["pickupLocationId"] = shipment.pickup_point.code
    letter = {
        "service": {**code, **_service(shipment)},
        "parcel": parcel,
        "sender": {**reference, "address": sender},
        "addressee": {"address": recipient},
    }
    articles = _articles(shipment, package)
    if articles:
        contents = {"article": articles, "category": {"value": COMMERCIAL_GOODS}}
        letter["customsDeclarations"] = {"includeCustomsDeclarations": True, "contents": contents}
    return letter


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
    if _has_customs(shipment):
        value_eur = sum(article.value_eur * article.quantity for article in shipment.customs)
        service["totalAmount"] = int(value_eur * 100)
    return service


def _commercial_name(shipment: Shipment) -> str:
    """Return the shop's name for its customers: the contract's, else the sender's."""
    name = shipment.commercial_name or shipment.sender.company or shipment.sender.last_name
    field = CarrierField(CARRIER, "commercialName", LINE_LENGTH, RequestRejected)
    return fitting(to_latin(name, field), field)


def _reference(shipment: Shipment) -> str:
    field = CarrierField(CARRIER, "reference", REFERENCE_LENGTH, RequestRejected)
    return fitting(to_latin(shipment.reference, field), field) or shipment.id


def _sender(shipment: Shipment) -> Json:
    return _address(shipment.sender, SENDER, company=shipment.sender.company)


def _recipient(shipment: Shipment, product: Product) -> Json:
    point = shipment.pickup_point if product.needs_pickup_point else None
    company = point.name if point and point.name else shipment.recipient.company
    return _address(shipment.recipient, RECIPIENT, company=company, is_mobile_required=product.needs_pickup_point)


def check_sender(party: Party) -> None:
    """Raise Rejected for a sender that the carrier cannot print."""
    _address(party, SENDER, company=party.company)


def _address(party: Party, path: str, *, company: str, is_mobile_required: bool = False) -> Json:
    """Return an address without its empty fields."""
    parts: list[Mapping[str, str]] = all_of(
        lambda: {"companyName": _text(company, f"{path}.company")},
        lambda: {"lastName": _text(party.last_name, f"{path}.lastName")},
        lambda: {"firstName": _text(party.first_name, f"{path}.firstName", FIRST_NAME_LENGTH)},
        lambda: _lines(party, path),
        lambda: {"countryCode": party.country_code},
        lambda: {"city": _required(party.city, f"{path}.city")},
        lambda: {"zipCode": _required(party.zip_code, f"{path}.zip")},
        lambda: _phone(party, path, is_mobile_required=is_mobile_required),
        lambda: {"email": email_of(party, CarrierField(CARRIER, f"{path}.email", EMAIL_LENGTH, RequestRejected))},
    )
    texts = {name: value for part in parts for name, value in part.items()}
    if not texts["companyName"] and not (texts["lastName"] and texts["firstName"]):
        raise CarrierField(CARRIER, f"{path}.lastName", LINE_LENGTH).error("and firstName, or company, are required")
    return {name: value for name, value in texts.items() if value}


def _text(value: str, path: str, max_length: int = LINE_LENGTH) -> str:
    field = CarrierField(CARRIER, path, max_length)
    return fitting(to_latin(value, field), field)


def _required(value: str, path: str) -> str:
    field = CarrierField(CARRIER, path, LINE_LENGTH)
    return required(to_latin(value, field), field)


def _lines(party: Party, path: str) -> Mapping[str, str]:
    """Return the street on line2, wrapped into line3; the second address line on line3, or above if that is taken.

    The carrier prints line0 (floor) and line1 (building) above line2 (number and street).
    """
    fields = [CarrierField(CARRIER, f"{path}.{name}", LINE_LENGTH) for name in ("address1", "address2")]
    street = wrapped(to_latin(party.address1, fields[0]), fields[0], STREET_LINES)
    if not street:
        raise fields[0].error("has no text that beta can print")
    more = wrapped(to_latin(party.address2, fields[1]), fields[1], OTHER_LINES)
    if len(street) + len(more) <= STREET_LINES:
        return dict(zip(("line2", "line3"), street + more, strict=False))
    names = ("line0", "line1")[-len(more) :] if more else ()
    return dict(zip((*names, "line2", "line3"), more + street, strict=False))


def _phone(party: Party, path: str, *, is_mobile_required: bool) -> Mapping[str, str]:
    """Return the number in the field of its kind; at a French address only French mobiles count as mobile."""
    field = CarrierField(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    phone = phone_of(party, field)
    is_mobile = phones.is_french_mobile(phone) if party.country_code == "FR" else phones.is_mobile(phone)
    if is_mobile_required and not is_mobile:
        raise field.error("the product requires a mobile number")
    return {"mobileNumber" if is_mobile else "phoneNumber": phone}


def _has_customs(shipment: Shipment) -> bool:
    return bool(shipment.customs) and shipment.recipient.country_code not in CUSTOMS_FREE


def _articles(shipment: Shipment, package: Package) -> list[Json]:
    """Return the customs articles; one without a weight gets a share of the parcel's."""
    if not _has_customs(shipment):
        return []
    pieces = sum(article.quantity for article in shipment.customs)
    share_kg = (_weight_kg(package) / pieces).quantize(WEIGHT_STEP_KG, ROUND_DOWN)
    field = CarrierField(CARRIER, "customs.description", DESCRIPTION_LENGTH, RequestRejected)
    return [
        {
            "description": required(to_latin(article.description, field), field),
            "quantity": article.quantity,
            "weight": float(article.weight_kg or share_kg),
            "value": float(article.value_eur),
            "hsCode": article.hs_code,
            "originCountry": article.origin_country_code,
            "currency": CURRENCY,
        }
        for article in shipment.customs
    ]
