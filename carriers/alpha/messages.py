"""Build alpha's SOAP requests from a shipment, with the names and the order of the protocol."""

from calendar import SATURDAY
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_UP, Decimal
from itertools import chain
from typing import Final

from carriers import itinerary
from carriers.alpha import parties
from carriers.alpha.parties import CARRIER, PROFESSIONAL, Fields, contract
from carriers.alpha.points import sells
from carriers.customs import CENT, Goods, customs_of, described, shares_by_parcel, value_eur
from carriers.errors import PickupPointRejected, RequestRejected
from carriers.http import soap
from carriers.itinerary import destination, route_of
from carriers.pickup_points import FIELD
from carriers.products import ALPHA_OVERSEAS, MAINLAND, PRODUCTS, Product, Route
from carriers.shipment import Credentials, CustomsItem, Party, PickupPoint, Shipment
from carriers.text import CarrierField, required, to_ascii, wrapped
from carriers.validation import all_of, references_of

NAMESPACE: Final = "http://cxf.shipping.soap.chronopost.fr/"
PURCHASE: Final = "shippingMultiParcelV4"

ISSUER: Final = "CHRFR"
VERSION: Final = "2.0"
RETURN_MODE: Final = "2"
LABEL_MODES: Final = {"10x15": "THE", "A4": "SPD"}  # PDFs
UNKNOWN_CM: Final = 1
# Delivery on Saturday at an overseas relay, for parcels of Thursday and Friday, and the service of all other days.
SATURDAY_SERVICE: Final = "369"
SATURDAY_WEEKDAYS: Final = (3, 4)
WEEKDAY_SERVICE: Final = "368"

RELAY_ABROAD: Final = "alpha_relais_europe_outre_mer"
MAX_PARCELS: Final = 99
REFERENCE_LENGTH: Final = 35
CONTENT_LENGTH: Final = 45
CONTENTS: Final = 5  # fields of that length
GRAM: Final = Decimal("0.001")


def purchase(shipment: Shipment, credentials: Credentials, point: PickupPoint | None = None) -> bytes:
    """Return the request for a label of any number of parcels; raises Rejected for a shipment that cannot be sent.

    Without `point` an order to a pickup point can be validated only: its label would go to the customer's home.
    """
    (account_number, password), product = contract(credentials), PRODUCTS[shipment.product_code]
    shipment = replace(shipment, recipient=destination(shipment, point))
    count = len(shipment.packages)
    parts = all_of(
        lambda: _senders(shipment.sender),
        lambda: [_structure("recipientValue", _recipient(shipment, product, point))],
        lambda: [_structure("refValue", fields) for fields in _references(shipment, product, point)],
        lambda: [_structure("skybillValue", fields) for fields in _parcels(shipment, product)],
    )
    if point and not sells(route_of(shipment, shipment.packages[0]).carrier_code, point):
        problem = "is a locker, which the product does not go to; let the customer choose another one"
        raise PickupPointRejected(CARRIER, problem, field=FIELD)
    mode = LABEL_MODES[shipment.label_format]
    whole: soap.Content = (
        ("headerValue", (account_number, ("idEmit", ISSUER), ("identWebPro", ""))),
        *chain.from_iterable(parts),
        ("skybillParamsValue", (("duplicata", "N"), ("mode", mode), ("withReservation", "2"))),
        password,
        ("modeRetour", RETURN_MODE),
        ("numberOfParcel", str(count)),
        ("version", VERSION),
        ("multiParcel", "Y" if count > 1 else "N"),
    )
    return soap.envelope(PURCHASE, NAMESPACE, whole)


def _structure(name: str, fields: Fields) -> tuple[str, Fields]:
    """Return a structure without its empty fields but a phone: a missing one is sent empty."""
    return name, [field for field in fields if field[1] or field[0].endswith("Phone")]


def _senders(party: Party) -> list[tuple[str, Fields]]:
    values = parties.sender(party)
    return [
        _structure("shipperValue", parties.in_order("shipper", {**values, "Type": PROFESSIONAL})),
        _structure("customerValue", [*parties.in_order("customer", values), ("printAsSender", "N")]),
    ]


def _recipient(shipment: Shipment, product: Product, point: PickupPoint | None) -> Fields:
    if not product.needs_pickup_point:
        return parties.recipient(shipment.recipient)
    country_code = shipment.recipient.country_code
    is_relay_europe = product.code == RELAY_ABROAD and country_code not in ALPHA_OVERSEAS
    return parties.recipient_at(
        point,
        shipment.recipient,
        is_phone_required=is_relay_europe or country_code not in MAINLAND,
        is_relay_europe=is_relay_europe,
    )


def _references(shipment: Shipment, product: Product, point: PickupPoint | None) -> list[Fields]:
    """Return the references of each parcel that the carrier stores and prints; for a relay its code is printed."""
    if not product.needs_pickup_point:
        return [(("recipientRef", printed), ("shipperRef", shipment.id)) for printed in _printed(shipment)]
    code = point.code if point else shipment.pickup_point_code
    return [(("recipientRef", code), ("shipperRef", shipment.id), ("idRelais", code))] * len(shipment.packages)


def _printed(shipment: Shipment) -> list[str]:
    return references_of(CARRIER, shipment, REFERENCE_LENGTH, lambda text, _: to_ascii(text))


def _parcels(shipment: Shipment, product: Product) -> list[Fields]:
    parts = all_of(
        lambda: [route_of(shipment, package) for package in shipment.packages],
        lambda: _goods(shipment),
        # For a relay the reference is a content, as its own field holds the relay's code.
        lambda: _printed(shipment) if product.needs_pickup_point else [""] * len(shipment.packages),
    )
    parcels, called_at = enumerate(zip(*parts, strict=True)), itinerary.now()
    return [
        _parcel(shipment, index, route, _declared(items, printed), called_at)
        for index, (route, items, printed) in parcels
    ]


def _goods(shipment: Shipment) -> Goods:
    """Return what is declared of each parcel, in the letters that the carrier prints."""
    customs = customs_of(CARRIER, shipment)
    if customs is None:
        return [()] * len(shipment.packages)
    return shares_by_parcel(CARRIER, shipment, described(customs, printed_goods))


def _parcel(shipment: Shipment, index: int, route: Route, declared: Fields, called_at: datetime) -> Fields:
    package, count = shipment.packages[index], len(shipment.packages)
    return (
        ("bulkNumber", str(count) if count > 1 else ""),
        ("codCurrency", "EUR"),
        ("codValue", "0"),
        *declared,
        ("evtCode", "DC"),
        ("insuredCurrency", "EUR"),
        ("insuredValue", _decimal((shipment.insured_value_eur or Decimal(0)) * 100, Decimal(1))),
        ("objectType", "MAR"),
        ("productCode", route.carrier_code),
        ("service", service_of(route, called_at)),
        ("shipDate", called_at.strftime("%Y-%m-%dT%H:%M:%S")),
        ("shipHour", str(called_at.hour)),
        ("skybillRank", str(index + 1) if count > 1 else ""),
        ("weight", _decimal(package.weight_kg, GRAM)),
        ("weightUnit", "KGM"),
        ("height", str(package.height_cm or UNKNOWN_CM)),
        ("length", str(package.length_cm or UNKNOWN_CM)),
        ("width", str(package.width_cm or UNKNOWN_CM)),
        ("as", route.as_code),
    )


def _decimal(value: Decimal, step: Decimal) -> str:
    """Return a number rounded up to the step, without trailing zeros."""
    return format(value.quantize(step, ROUND_UP).normalize(), "f")


def service_of(route: Route, called_at: datetime) -> str:
    """Return the service that a parcel is bought with at a time; some are of Saturdays."""
    if route.service == SATURDAY_SERVICE and called_at.weekday() not in SATURDAY_WEEKDAYS:
        return WEEKDAY_SERVICE
    if called_at.weekday() == SATURDAY and route.saturday_service:
        return route.saturday_service
    return route.service or "0"


def _declared(goods: tuple[CustomsItem, ...], printed: str) -> Fields:
    """Return content1 to content5, the text that is printed there, if there is one, and the goods; and their value.

    Each article has a field of its own while there are enough, else their descriptions share the fields.
    """
    places = CONTENTS - bool(printed)
    descriptions = list(dict.fromkeys(item.description for item in goods))
    if len(descriptions) > places:
        field = CarrierField(CARRIER, "customs.items", CONTENT_LENGTH, RequestRejected)
        descriptions = wrapped(" ".join(descriptions), field, places)
    contents = [(f"content{rank}", text) for rank, text in enumerate(filter(None, (printed, *descriptions)), start=1)]
    return [*contents, ("customsCurrency", "EUR"), ("customsValue", _decimal(value_eur(goods), CENT))]


def printed_goods(words: str, path: str) -> str:
    """Return a description of goods in the letters and the length of a content; raises RequestRejected."""
    return required(to_ascii(words), CarrierField(CARRIER, path, CONTENT_LENGTH, RequestRejected))
