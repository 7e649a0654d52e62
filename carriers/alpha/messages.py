"""Build alpha's SOAP requests from a shipment, with the names and the order of the protocol."""

import re
from collections.abc import Iterable, Iterator
from decimal import ROUND_UP, Decimal
from itertools import chain
from typing import Final
from xml.etree.ElementTree import Element

from carriers import phones
from carriers.errors import RequestRejected
from carriers.http import soap
from carriers.products import CUSTOMS_FREE, MAINLAND, PARIS, Product
from carriers.shipment import Credentials, CustomsArticle, Party, Shipment
from carriers.text import CarrierField, fitting, required, to_ascii, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, checked_product, email_of, phone_of, route_of

CARRIER: Final = "alpha"
SHIPPING_NAMESPACE: Final = "http://cxf.shipping.soap.chronopost.fr/"
PURCHASE: Final = "shippingMultiParcelV4"

ISSUER: Final = "CHRFR"
VERSION: Final = "2.0"
RETURN_MODE: Final = "2"
LABEL_MODE: Final = "THE"  # a PDF of 10 x 15 cm
CIVILITY: Final = "M"  # an empty one fails, and the sender's is unknown
NOTIFY_RECIPIENT: Final = "22"  # by e-mail
NOTIFY_NOBODY: Final = "0"
PROFESSIONAL: Final = "1"
PRIVATE: Final = "2"

PICKUP_POINT_CODE: Final = re.compile(r"[0-9]{4}[A-Z]")
MAX_PARCELS: Final = 99
NAME_LENGTH: Final = 100
LINE_LENGTH: Final = 38
LINES: Final = 2
ZIP_LENGTH: Final = 9
CITY_LENGTH: Final = 50
EMAIL_LENGTH: Final = 80
PHONE_LENGTH: Final = 17
REFERENCE_LENGTH: Final = 35
CONTENT_LENGTH: Final = 45
GRAM: Final = Decimal("0.001")

Fields = Iterable[tuple[str, str]]


def purchase(shipment: Shipment, credentials: Credentials) -> bytes:
    """Return the request for a label of any number of parcels; raises Rejected for a shipment that cannot be sent."""
    product = checked_product(CARRIER, shipment, MAX_PARCELS, PICKUP_POINT_CODE)
    count = len(shipment.packages)
    parts = all_of(
        lambda: [
            _element("shipperValue", _sender(shipment.sender, "shipper", [("Type", PROFESSIONAL)])),
            _element("customerValue", [*_sender(shipment.sender, "customer", []), ("printAsSender", "N")]),
        ],
        lambda: [_element("recipientValue", _recipient(shipment, product))],
        lambda: [_element("refValue", _references(shipment, product)) for _ in shipment.packages],
        lambda: [_element("skybillValue", _parcel(shipment, product, rank)) for rank in range(1, count + 1)],
    )
    header = [("accountNumber", credentials.account_number), ("idEmit", ISSUER)]
    whole = [
        _element("headerValue", [*header, ("identWebPro", ""), ("subAccount", "")], keep_empty=True),
        *chain.from_iterable(parts),
        _element("skybillParamsValue", [("duplicata", "N"), ("mode", LABEL_MODE), ("withReservation", "2")]),
        soap.leaf("password", credentials.password),
        soap.leaf("modeRetour", RETURN_MODE),
        soap.leaf("numberOfParcel", str(count)),
        soap.leaf("version", VERSION),
        soap.leaf("multiParcel", "Y" if count > 1 else "N"),
    ]
    return soap.envelope(PURCHASE, SHIPPING_NAMESPACE, whole)


def check_sender(party: Party) -> None:
    """Raise Rejected for a sender that the carrier cannot print."""
    _sender(party, "shipper", ())


def _element(name: str, fields: Fields, *, keep_empty: bool = False) -> Element:
    """Return a structure, without its empty children."""
    element = Element(name)
    element.extend(soap.leaf(*field) for field in fields if field[1] or keep_empty)
    return element


def _sender(party: Party, prefix: str, extra: Fields) -> Iterator[tuple[str, str]]:
    names, address, contact = all_of(
        lambda: _names(party, SENDER), lambda: _address(party, SENDER), lambda: _contact(party, SENDER)
    )
    fields = (
        ("Civility", CIVILITY),
        *names,
        *address,
        ("ContactName", _person(party, SENDER)),
        *contact,
        ("PreAlert", NOTIFY_NOBODY),
        *extra,
    )
    return ((prefix + name, value) for name, value in fields)


def _recipient(shipment: Shipment, product: Product) -> Iterator[tuple[str, str]]:
    party = shipment.recipient
    is_relay_abroad = product.needs_pickup_point and party.country_code not in MAINLAND
    notify = NOTIFY_RECIPIENT if product.needs_pickup_point and party.email else NOTIFY_NOBODY
    names, address, contact = all_of(
        lambda: _relay_names(shipment, product) or _names(party, RECIPIENT),
        lambda: _address(party, RECIPIENT),
        lambda: _contact(party, RECIPIENT, is_phone_required=is_relay_abroad),
    )
    fields = (
        *names,
        *address,
        ("ContactName", _person(party, RECIPIENT)),
        *contact,
        ("PreAlert", notify),
        ("Type", PROFESSIONAL if party.company else PRIVATE),
    )
    return (("recipient" + name, value) for name, value in fields)


def _person(party: Party, path: str) -> str:
    """Return first and last name in one; if they are too long together, the error names the longer one."""
    fields = [CarrierField(CARRIER, f"{path}.{name}", NAME_LENGTH) for name in ("firstName", "lastName")]
    first, last = all_of(lambda: to_ascii(party.first_name, fields[0]), lambda: to_ascii(party.last_name, fields[1]))
    field = fields[0] if len(first) > len(last) else fields[1]
    person = f"{first} {last}".strip()
    if len(person) > NAME_LENGTH:
        raise field.error(f"is, with the other name, longer than the {NAME_LENGTH} characters that {CARRIER} prints")
    return required(person, field)


def _relay_names(shipment: Shipment, product: Product) -> Fields:
    """Return the relay, if its name is known, then the person."""
    if not (product.needs_pickup_point and shipment.pickup_point and shipment.pickup_point.name):
        return ()
    field = CarrierField(CARRIER, "pickupPointCode", NAME_LENGTH, RequestRejected)
    name = required(to_ascii(shipment.pickup_point.name, field), field)
    return (("Name", name), ("Name2", _person(shipment.recipient, RECIPIENT)))


def _names(party: Party, path: str) -> Fields:
    """Return the company, if there is one, then the person."""
    person = _person(party, path)
    field = CarrierField(CARRIER, f"{path}.company", NAME_LENGTH)
    company = fitting(to_ascii(party.company, field), field)
    return (("Name", company), ("Name2", person)) if company else (("Name", person), ("Name2", ""))


def _address(party: Party, path: str) -> Fields:
    zip_field = CarrierField(CARRIER, f"{path}.zip", ZIP_LENGTH)
    city_field = CarrierField(CARRIER, f"{path}.city", CITY_LENGTH)
    (first, second), (zip_code,), (city,) = all_of(
        lambda: _lines(party, path),
        lambda: (required(to_ascii(party.zip_code, zip_field), zip_field),),
        lambda: (required(to_ascii(party.city, city_field), city_field),),
    )
    return (
        ("Adress1", first),
        ("Adress2", second),
        ("ZipCode", zip_code),
        ("City", city),
        ("Country", party.country_code),
    )


def _lines(party: Party, path: str) -> tuple[str, ...]:
    """Return two lines: one each for the address lines given, or all of it wrapped to both."""
    fields = [CarrierField(CARRIER, f"{path}.{name}", LINE_LENGTH) for name in ("address1", "address2")]
    street, more = to_ascii(party.address1, fields[0]), to_ascii(party.address2, fields[1])
    if not street:
        raise fields[0].error("has no text that alpha can print")
    lines = wrapped(street, fields[0], LINES) + wrapped(more, fields[1], LINES)
    if len(lines) > LINES:
        lines = wrapped(f"{street} {more}", fields[1], LINES)
    return lines[0], lines[1] if len(lines) > 1 else ""


def _contact(party: Party, path: str, *, is_phone_required: bool = False) -> Fields:
    """Return the e-mail address and the phone number: a mobile in the mobile's field, any other in the phone's.

    Relays abroad require a phone number; a mobile then goes into both fields.
    """
    phone_field = CarrierField(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    email_field = CarrierField(CARRIER, f"{path}.email", EMAIL_LENGTH, RequestRejected)
    phone, email = all_of(lambda: phone_of(party, phone_field), lambda: email_of(party, email_field))
    if is_phone_required and not phone:
        raise phone_field.error("is required by the product")
    is_mobile = phones.is_mobile(phone)
    return (
        ("Email", email),
        ("Phone", phone if is_phone_required or not is_mobile else ""),
        ("MobilePhone", phone if is_mobile else ""),
    )


def _references(shipment: Shipment, product: Product) -> Fields:
    """Return the references that the carrier stores and prints; for a relay its code is printed."""
    if product.needs_pickup_point and shipment.pickup_point:
        code = shipment.pickup_point.code
        return (("shipperRef", shipment.id), ("recipientRef", code), ("idRelais", code))
    return (("shipperRef", shipment.id), ("recipientRef", _reference(shipment)))


def _reference(shipment: Shipment) -> str:
    field = CarrierField(CARRIER, "reference", REFERENCE_LENGTH, RequestRejected)
    return fitting(to_ascii(shipment.reference, field), field)


def _parcel(shipment: Shipment, product: Product, rank: int) -> Fields:
    package, count = shipment.packages[rank - 1], len(shipment.packages)
    route = route_of(shipment, product, package)
    shipped_at = shipment.ship_at.astimezone(PARIS)
    return (
        ("productCode", route.carrier_code),
        ("service", route.service or "0"),
        ("evtCode", "DC"),
        ("objectType", "MAR"),
        ("shipDate", shipped_at.strftime("%Y-%m-%dT%H:%M:%S")),
        ("shipHour", str(shipped_at.hour)),
        ("weight", format(package.weight_kg.quantize(GRAM, ROUND_UP).normalize(), "f")),
        ("weightUnit", "KGM"),
        *((side, "1") for side in ("height", "length", "width")),  # unknown
        ("bulkNumber", str(count) if count > 1 else ""),
        ("skybillRank", str(rank) if count > 1 else ""),
        ("codValue", "0"),
        ("customsValue", str(_customs_cents(shipment))),
        ("insuredValue", "0"),
        *((currency, "EUR") for currency in ("codCurrency", "customsCurrency", "insuredCurrency")),
        ("content1", _content(shipment, product)),
    )


def _declared(shipment: Shipment) -> tuple[CustomsArticle, ...]:
    return () if shipment.recipient.country_code in CUSTOMS_FREE else shipment.customs


def _customs_cents(shipment: Shipment) -> int:
    return int(sum(article.value_eur * article.quantity for article in _declared(shipment)) * 100)


def _content(shipment: Shipment, product: Product) -> str:
    """Return the goods outside the EU; for a relay also the reference, as its own field holds the relay's code.

    The API promises to print the whole reference, so the goods are described in the space that is left.
    """
    field = CarrierField(CARRIER, "customs", CONTENT_LENGTH, RequestRejected)
    goods = fitting(to_ascii(" ".join(article.description for article in _declared(shipment)[:1]), field), field)
    printed = _reference(shipment) if product.needs_pickup_point else ""
    return f"{printed} {goods}"[:CONTENT_LENGTH].strip()
