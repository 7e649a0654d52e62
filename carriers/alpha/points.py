"""alpha's pickup point service: looks a relay up by its code, and searches those of a place."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from math import ceil
from typing import Any, Final
from xml.etree.ElementTree import Element

from carriers.alpha.answers import check_code, day_of, result_of, success_of
from carriers.alpha.parties import CARRIER, CITY_LENGTH, Fields, contract, place_of
from carriers.alpha.refusals import POINT_REFUSALS, SEARCH_REFUSALS
from carriers.errors import PickupPointRejected, RequestRejected
from carriers.http import soap
from carriers.http.transport import Answer, UnreadableError
from carriers.pickup_points import ALPHA_2, TEXTS, PointQuery, Span, closures, degrees, joined, spans_of
from carriers.products import MAINLAND
from carriers.shipment import Credentials, PickupPoint
from carriers.text import CarrierField, fitting, required, to_ascii

LOOK_UP: Final = "rechercheDetailPointChronopost"
LOOK_UP_ABROAD: Final = "rechercheDetailPointChronopostInter"
SEARCH: Final = "recherchePointChronopost"
SEARCH_ABROAD: Final = "recherchePointChronopostInter"
NO_POINT: Final = "601"
IGNORED, BY_ADDRESS = "0", "2"  # of a search's `qualiteReponse`
LOCKER: Final = "locker"
WITHOUT_LOCKERS: Final = frozenset({"5X", "6B"})
ABROAD: Final = frozenset({"49", "4P", "6B"})
MAX_POINTS: Final = 25
FARTHEST_KM: Final = 40
UNKNOWN_G: Final = 2000  # the weight that the carrier's own modules send; it filters nothing
MOST_KG: Final = Decimal(20)  # that any relay takes
ADDRESS_LENGTH: Final = 200
WEEKDAYS: Final = range(1, 8)  # from Monday on
LANGUAGE: Final = "FR"
VERSION: Final = "2.0"

PICKUP_POINT_CODE: Final = re.compile(r"[0-9]{4}[A-Za-z]")  # of those that an order may name

_METRES: Final = re.compile(r"[0-9]{1,7}")
# The service knows overseas countries by their alpha-3 codes, and may answer with others.
_OVERSEAS: Final = dict(
    code.split("=")
    for code in "BL=BLM GF=GUF GP=GLP MF=MAF MQ=MTQ NC=NCL PF=PYF PM=SPM RE=REU TF=ATF WF=WLF YT=MYT".split()
)
_ALPHA_2: Final = {three: two for two, three in _OVERSEAS.items()} | {"FRA": "FR", "MCO": "MC"}


def operation_for(country_code: str) -> str:
    """Return the operation that looks up a country's points."""
    return LOOK_UP if country_code in MAINLAND else LOOK_UP_ABROAD


def look_up(code: str, country_code: str, credentials: Credentials) -> Fields:
    """Return the request for one point."""
    asked = (*contract(credentials), ("identifiant", code))
    if operation_for(country_code) == LOOK_UP:
        return asked
    country = _OVERSEAS.get(country_code, country_code)
    return (*asked, ("countryCode", country), ("language", LANGUAGE), ("version", VERSION))


def read_point(answer: Answer, *, code: str, country_code: str) -> PickupPoint:
    """Return the point; raises PickupPointRejected for an unknown one.

    The answer's `qualiteReponse` is 0 in every look-up and means nothing there.
    """
    points = soap.records(success_of(answer, POINT_REFUSALS), "listePointRelais")
    if not points:
        raise POINT_REFUSALS[NO_POINT].error_of(CARRIER)
    point = next((point for point in points if soap.text(point, "identifiant").upper() == code.upper()), None)
    if point is None:
        raise UnreadableError("the answer is about another pickup point")
    return _point(point, country_code)


def search_operation(carrier_code: str) -> str:
    """Return the operation that searches points of a product, by its code."""
    return SEARCH_ABROAD if carrier_code in ABROAD else SEARCH


def search(query: PointQuery, credentials: Credentials) -> Fields:
    """Return the request for the points near a place; raises RequestRejected for one that cannot be written."""
    is_abroad = search_operation(query.carrier_code) == SEARCH_ABROAD
    address, city, zip_code = (
        _text(query.address1, "address1", ADDRESS_LENGTH),
        _text(query.city, "city", CITY_LENGTH),
        _text(query.zip_code, "zip", CITY_LENGTH, required),  # also the city's stand-in, which is never empty
    )
    weight_g = ceil(query.weight_kg * 1000) if query.weight_kg else UNKNOWN_G
    return [
        *contract(credentials),
        *([("address", address)] if address and not is_abroad else []),
        ("zipCode", zip_code),
        ("city", city or zip_code),
        ("countryCode", _OVERSEAS.get(query.country_code, query.country_code)),
        ("type", "C" if query.carrier_code in WITHOUT_LOCKERS else "P"),
        ("productCode", query.carrier_code),
        ("service", "T"),
        ("weight", str(weight_g)),
        ("shippingDate", query.day.strftime("%d/%m/%Y")),
        ("maxPointChronopost", str(MAX_POINTS)),
        ("maxDistanceSearch", str(FARTHEST_KM)),
        ("holidayTolerant", "1"),
        *([("language", LANGUAGE), ("version", VERSION)] if is_abroad else []),
    ]


def _text(text: str, parameter: str, length: int, check: Callable[[str, CarrierField], str] = fitting) -> str:
    field = CarrierField(CARRIER, parameter, length, RequestRejected)
    return check(to_ascii(text), field)


def read_points(answer: Answer, *, query: PointQuery) -> list[PickupPoint]:
    """Return the points of a search that a label can be printed for, in the answer's order."""
    result = result_of(answer)
    if soap.text(result, "errorCode") == NO_POINT:
        return []
    check_code(result, answer.request, SEARCH_REFUSALS)
    quality = soap.text(result, "qualiteReponse")
    records = [] if quality == IGNORED else soap.records(result, "listePointRelais")[:MAX_POINTS]
    found = []
    for record in records:
        point = _point(record, query.country_code, has_distance=quality == BY_ADDRESS)
        with suppress(PickupPointRejected):
            place_of(point)
            found.append(point)
    return [point for point in found if PICKUP_POINT_CODE.fullmatch(point.code)]


def sells(carrier_code: str, point: PickupPoint) -> bool:
    """Return whether a product goes to points of this kind, by its code."""
    return point.kind != LOCKER or carrier_code not in WITHOUT_LOCKERS


def _point(point: Element, country_code: str, *, has_distance: bool = False) -> PickupPoint:
    texts: dict[str, Any] = {name: soap.text(point, theirs) for name, theirs in TEXTS.items()}
    country, distance_m = texts["country_code"].upper(), soap.text(point, "distanceEnMetre")
    texts["country_code"] = country if ALPHA_2.fullmatch(country) else _ALPHA_2.get(country, country_code)
    hours = _opening_hours(point)
    return PickupPoint(
        **texts,
        max_weight_kg=_kilograms(soap.text(point, "poidsMaxi")),
        is_open=soap.is_true(point, "actif", otherwise=True),
        closures=closures(_closed_periods(point), day_of),
        kind=LOCKER if hours is None else "relay",
        latitude=degrees(soap.text(point, "coordGeolocalisationLatitude")),
        longitude=degrees(soap.text(point, "coordGeolocalisationLongitude")),
        distance_m=int(distance_m) if has_distance and _METRES.fullmatch(distance_m) else None,
        opening_hours=hours,
    )


def _opening_hours(point: Element) -> tuple[tuple[Span, ...], ...] | None:
    """Return the spans of each day, None for a point without any day: its access is open."""
    days = {soap.text(day, "jour"): day for day in soap.records(point, "listeHoraireOuverture")}
    hours = (joined(_spans(days[str(number)])) if str(number) in days else () for number in WEEKDAYS)
    return tuple(hours) if days else None


def _spans(day: Element) -> Iterator[Span]:
    """Yield a day's spans, from its inner list: the text, which may differ, stands in where there is none."""
    inner = soap.records(day, "listeHoraireOuverture")
    yield from ((soap.text(span, "debut"), soap.text(span, "fin")) for span in inner)
    yield from spans_of("" if inner else soap.text(day, "horairesAsString"))


def _kilograms(text: str) -> Decimal | None:
    """Return a weight in kilograms, the answers' unit although the specification says grams: at most a relay's."""
    with suppress(InvalidOperation):
        weight_kg = Decimal(text)
        return min(weight_kg, MOST_KG) if weight_kg.is_finite() and weight_kg > 0 else None
    return None


def _closed_periods(point: Element) -> Iterator[tuple[str, str]]:
    for period in point.findall("listePeriodeFermeture"):
        first = soap.text(period, "calendarDeDebut") or soap.text(period, "dateDeDebut")
        yield first, soap.text(period, "calendarDeFin") or soap.text(period, "dateDeFin")
