"""The SOAP messages that alpha is sent, built from a shipment; the order and the names are the protocol's."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import ROUND_UP, Decimal
from itertools import chain
from typing import Final
from xml.etree.ElementTree import Element

from carriers import phones
from carriers.base import Credentials, CustomsArticle, Party, Shipment
from carriers.errors import RequestRejected
from carriers.http import soap
from carriers.products import CUSTOMS_FREE, MAINLAND, PARIS, Product
from carriers.text import Slot, fitting, required, to_ascii, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, checked_product, email_of, phone_of, route_of

CARRIER: Final = "alpha"
SHIPPING_NAMESPACE: Final = "http://cxf.shipping.soap.chronopost.fr/"
PURCHASE: Final = "shippingMultiParcelV4"

ISSUER: Final = "CHRFR"
VERSION: Final = "2.0"
RETURN_MODE: Final = "2"
LABEL_MODE: Final = "THE"  # a PDF of 10 x 15 cm
CIVILITY: Final = "M"  # an empty one fails, and nobody asked for the sender's
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
    """The one call that buys a label of any number of parcels; raises Rejected for what cannot be sent."""
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
    """Raise Rejected where the carrier can't print this sender."""
    _sender(party, "shipper", ())


def _element(name: str, fields: Fields, *, keep_empty: bool = False) -> Element:
    """A structure; a child that is empty is left out."""
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
    """First and last name in one; the longer one is at fault where they are too long together."""
    slots = [Slot(CARRIER, f"{path}.{name}", NAME_LENGTH) for name in ("firstName", "lastName")]
    first, last = all_of(lambda: to_ascii(party.first_name, slots[0]), lambda: to_ascii(party.last_name, slots[1]))
    slot = slots[0] if len(first) > len(last) else slots[1]
    person = f"{first} {last}".strip()
    if len(person) > NAME_LENGTH:
        raise slot.refuse(f"is, with the other name, longer than the {NAME_LENGTH} characters that {CARRIER} prints")
    return required(person, slot)


def _relay_names(shipment: Shipment, product: Product) -> Fields:
    """The relay, where its name is known, then the person."""
    if not (product.needs_pickup_point and shipment.pickup_point and shipment.pickup_point.name):
        return ()
    slot = Slot(CARRIER, "pickupPointCode", NAME_LENGTH, RequestRejected)
    name = required(to_ascii(shipment.pickup_point.name, slot), slot)
    return (("Name", name), ("Name2", _person(shipment.recipient, RECIPIENT)))


def _names(party: Party, path: str) -> Fields:
    """The company, then the person; the person alone where there is no company."""
    person = _person(party, path)
    slot = Slot(CARRIER, f"{path}.company", NAME_LENGTH)
    company = fitting(to_ascii(party.company, slot), slot)
    return (("Name", company), ("Name2", person)) if company else (("Name", person), ("Name2", ""))


def _address(party: Party, path: str) -> Fields:
    zip_slot = Slot(CARRIER, f"{path}.zip", ZIP_LENGTH)
    city_slot = Slot(CARRIER, f"{path}.city", CITY_LENGTH)
    (first, second), (zip_code,), (city,) = all_of(
        lambda: _lines(party, path),
        lambda: (required(to_ascii(party.zip_code, zip_slot), zip_slot),),
        lambda: (required(to_ascii(party.city, city_slot), city_slot),),
    )
    return (
        ("Adress1", first),
        ("Adress2", second),
        ("ZipCode", zip_code),
        ("City", city),
        ("Country", party.country_code),
    )


def _lines(party: Party, path: str) -> tuple[str, ...]:
    """The two lines there are: one each for what was given, else all of it folded over both."""
    slots = Slot(CARRIER, f"{path}.address1", LINE_LENGTH), Slot(CARRIER, f"{path}.address2", LINE_LENGTH)
    street, more = to_ascii(party.address1, slots[0]), to_ascii(party.address2, slots[1])
    if not street:
        raise slots[0].refuse("holds no text that alpha can print")
    lines = wrapped(street, slots[0], LINES) + wrapped(more, slots[1], LINES)
    if len(lines) > LINES:
        lines = wrapped(f"{street} {more}", slots[1], LINES)
    return lines[0], lines[1] if len(lines) > 1 else ""


def _contact(party: Party, path: str, *, is_phone_required: bool = False) -> Fields:
    """Who is written to and called: a mobile in the mobile's field, any other number in the other.

    Relays abroad want a phone; a mobile then goes into both fields, whichever they look at.
    """
    phone_slot = Slot(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    email_slot = Slot(CARRIER, f"{path}.email", EMAIL_LENGTH, RequestRejected)
    phone, email = all_of(lambda: phone_of(party, phone_slot), lambda: email_of(party, email_slot))
    if is_phone_required and not phone:
        raise phone_slot.refuse("is required by the product")
    is_mobile = phones.is_mobile(phone)
    return (
        ("Email", email),
        ("Phone", phone if is_phone_required or not is_mobile else ""),
        ("MobilePhone", phone if is_mobile else ""),
    )


def _references(shipment: Shipment, product: Product) -> Fields:
    """What the carrier keeps and prints; a relay's code takes the place of the printed reference."""
    if product.needs_pickup_point and shipment.pickup_point:
        code = shipment.pickup_point.code
        return (("shipperRef", shipment.id), ("recipientRef", code), ("idRelais", code))
    return (("shipperRef", shipment.id), ("recipientRef", _reference(shipment)))


def _reference(shipment: Shipment) -> str:
    slot = Slot(CARRIER, "reference", REFERENCE_LENGTH, RequestRejected)
    return fitting(to_ascii(shipment.reference, slot), slot)


def _parcel(shipment: Shipment, product: Product, rank: int) -> Fields:
    package, count = shipment.packages[rank - 1], len(shipment.packages)
    route = route_of(shipment, product, package)
    shipped_at = shipment.ship_at.astimezone(PARIS)
    return (
        ("productCode", route.carrier_code),
        ("service", route.service or "0"),
        ("evtCode", "DC"),
        ("objectType", "MAR"),
        *_time(shipped_at),
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


def _time(shipped_at: datetime) -> Fields:
    return ("shipDate", shipped_at.strftime("%Y-%m-%dT%H:%M:%S")), ("shipHour", str(shipped_at.hour))


def _declared(shipment: Shipment) -> tuple[CustomsArticle, ...]:
    return () if shipment.recipient.country_code in CUSTOMS_FREE else shipment.customs


def _customs_cents(shipment: Shipment) -> int:
    return int(sum(article.value_eur * article.quantity for article in _declared(shipment)) * 100)


def _content(shipment: Shipment, product: Product) -> str:
    """The goods outside the EU; for a relay also the reference, whose own field holds the relay's code.

    The shop was promised its reference as a whole, so the goods are described as far as there is room behind it.
    """
    slot = Slot(CARRIER, "customs", CONTENT_LENGTH, RequestRejected)
    goods = fitting(to_ascii(" ".join(article.description for article in _declared(shipment)[:1]), slot), slot)
    printed = _reference(shipment) if product.needs_pickup_point else ""
    return f"{printed} {goods}"[:CONTENT_LENGTH].strip()
