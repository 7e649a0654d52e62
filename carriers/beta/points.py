"""beta's point service: look up a pickup point by its code, abroad by way of a search, and search those of a place."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from math import ceil
from typing import Any, Final

from carriers.beta.answers import OK, check_status, document_in, integer_of, is_true, objects_of, string_of
from carriers.beta.parties import CARRIER, login, own_number, zip_code_of
from carriers.beta.refusals import POINT_REFUSALS, SEARCH_REFUSALS
from carriers.errors import CarrierUnavailable, PickupPointRejected
from carriers.http.transport import Answer, UnreadableError
from carriers.itinerary import shipping_day
from carriers.pickup_points import ALPHA_2, TEXTS, PointQuery, Span, closures, degrees, joined, spans_of
from carriers.pickup_points import FIELD as POINT
from carriers.products import PARIS
from carriers.redaction import Redactor
from carriers.refusals import Refusals
from carriers.shipment import Credentials, Party, PickupPoint, Shipment

LOOK_UP: Final = "findPointRetraitAcheminementByID"
SEARCH: Final = "findRDVPointRetraitAcheminement"
ALL_KINDS: Final = "1"  # of `filterRelay`
POST_OFFICES: Final = "0"  # of which alone take heavy parcels
HOME: Final = "FR"  # Monaco is abroad
AT_HOME, ABROAD = "0", "1"  # of `optionInter`
# The kinds that a contract's code takes; HD takes every one.
_POST_OFFICES: Final = frozenset({"BPR", "ACP", "CDI"})
TAKEN: Final = {"BPR": _POST_OFFICES, **{code: frozenset({code}) for code in ("A2P", "CMT", "BDP", "PCS")}}
KINDS: Final = dict.fromkeys((*_POST_OFFICES, "BDP"), "post_office") | {"PCS": "locker"}
WEEKDAYS: Final = ("Lundi", "Mardi", "Mercredi", "Jeudi", "Vendredi", "Samedi", "Dimanche")
LANGUAGE: Final = "FR"
MAX_POINTS: Final = 200  # of a search's answer
GRAMS: Final = 1000
NETWORK: Final = {"network": "reseau"}
UNKNOWN: Final = "124"  # the code of a wrong id
PICKUP_POINT_CODE: Final = re.compile(r"[0-9]{6}")
_CLEANER: Final = Redactor(Credentials())  # JSON may have characters that no database keeps

Json = dict[str, Any]
Record = Mapping[str, Any]


def look_up(shipment: Shipment, credentials: Credentials, network: str = "") -> Json:
    """Return the request for the shipment's point; abroad the service does not know it without its network."""
    query, said = query_of(shipment), {"reseau": network} if network else {}
    asked = {"id": shipment.pickup_point_code, "date": _day(query), "langue": LANGUAGE}
    return _shared(query, credentials) | asked | said


def query_of(shipment: Shipment) -> PointQuery:
    """Return the search for the points near the recipient's postal code and city."""
    recipient = shipment.recipient
    return PointQuery(
        carrier_code="",
        country_code=recipient.country_code,
        zip_code=recipient.zip_code,
        city=recipient.city,
        day=shipping_day(shipment),
        weight_kg=max(package.weight_kg for package in shipment.packages),
    )


def search(query: PointQuery, credentials: Credentials) -> Json:
    """Return the request for the points near a place; a postal code has letters and digits only."""
    place = Party("", "", "", query.zip_code, query.city, query.country_code)
    return {
        **_shared(query, credentials),
        **({"address": query.address1} if query.address1 else {}),
        "zipCode": re.sub(r"[^A-Za-z0-9]", "", zip_code_of(place)),
        "city": query.city,
        "countryCode": query.country_code,
        "shippingDate": _day(query),
        "optionInter": AT_HOME if query.country_code == HOME else ABROAD,
        "lang": LANGUAGE,
    }


def _shared(query: PointQuery, credentials: Credentials) -> Json:
    """Return what both requests say: the contract and the parcel."""
    grams = None if query.weight_kg is None else ceil(query.weight_kg * GRAMS)
    return {
        **login(credentials, "accountNumber"),
        **own_number(credentials, "codTiersPourPartenaire"),
        "weight": grams and str(grams),
        "filterRelay": POST_OFFICES if query.is_heavy else ALL_KINDS,
    }


def _day(query: PointQuery) -> str:
    return query.day.strftime("%d/%m/%Y")


def read_point(answer: Answer, *, shipment: Shipment) -> PickupPoint:
    """Return the point; raises PickupPointRejected for an unknown one, and for one without an address."""
    document = _checked(answer)
    point = document.get("pointRetraitAcheminement")
    if not isinstance(point, dict):
        raise POINT_REFUSALS[UNKNOWN].error_of(CARRIER)
    if string_of(point, "identifiant") != shipment.pickup_point_code:
        raise UnreadableError("the answer is about another pickup point")
    return _point(point, shipment.recipient.country_code, shipping_day(shipment))


def read_points(answer: Answer, *, query: PointQuery) -> list[PickupPoint]:
    """Return the points of a search that an order may name, in the answer's order; a bad record spoils itself alone."""
    found = []
    for record in read_records(answer, SEARCH_REFUSALS):
        with suppress(PickupPointRejected):
            found.append(_point(record, query.country_code, query.day))
    return [point for point in found if point.type_code and PICKUP_POINT_CODE.fullmatch(point.code)]


def sells(carrier_code: str, point: PickupPoint) -> bool:
    """Return whether a product takes points of this kind, by its code."""
    return carrier_code not in TAKEN or point.type_code in TAKEN[carrier_code]


def read_records(answer: Answer, refusals: Refusals = POINT_REFUSALS) -> list[Record]:
    """Return the records of a search, unread, as a bad one spoils no other; none if nothing was found."""
    try:
        document = _checked(answer, refusals)
    except PickupPointRejected:
        return []
    return objects_of(document, "listePointRetraitAcheminement")[:MAX_POINTS]


def point_among(records: Sequence[Record], shipment: Shipment) -> PickupPoint | None:
    """Return the shipment's point, None if no readable record has it."""
    for record in records:
        if string_of(record, "identifiant") == shipment.pickup_point_code:
            with suppress(PickupPointRejected):
                return _point(record, shipment.recipient.country_code, shipping_day(shipment))
    return None


def elsewhere(records: Sequence[Record], look_up: Callable[[str], PickupPoint]) -> PickupPoint:
    """Look a point up in the networks of those that a search shows; raises PickupPointRejected."""
    for network in filter(None, dict.fromkeys(string_of(record, "reseau") for record in records)):
        with suppress(PickupPointRejected):
            return look_up(network)
    problem = "the carrier finds no such pickup point near the recipient"
    remedy = "let the customer choose another one, or correct the recipient's postal code and city"
    raise PickupPointRejected(CARRIER, f"{problem}; {remedy}", field=POINT)


def _checked(answer: Answer, refusals: Refusals = POINT_REFUSALS) -> Mapping[str, Any]:
    """Return the answer's document; raises the error of its code, CarrierUnavailable for an undocumented one."""
    document = document_in(answer)
    code = string_of(document, "errorCode")
    if code == "0" and answer.status == OK:
        return document
    if code in ("", "0"):
        if not string_of(document, "message"):  # a gateway's own, which knows no credentials
            check_status(answer)
        raise UnreadableError("the answer has no error code")
    redactor, refusal = answer.request.redactor, refusals.get(code)
    text = redactor.text(string_of(document, "errorMessage"))
    if refusal:
        raise refusal.error_of(CARRIER, code=code, text=text)
    # A single request may cause an undocumented code, so it does not count towards the circuit breaker.
    problem = f"the point service answers the error code {redactor.code(code)}"
    raise CarrierUnavailable(CARRIER, problem, carrier_code=redactor.code(code), carrier_text=text)


def _point(point: Record, country_code: str, day: date) -> PickupPoint:
    texts: Json = {name: _CLEANER.text(string_of(point, theirs)) for name, theirs in (TEXTS | NETWORK).items()}
    distance_m, country = integer_of(point.get("distanceEnMetre")), texts["country_code"].upper()
    periods = ((each.get("calendarDeDebut"), each.get("calendarDeFin")) for each in objects_of(point, "listeConges"))
    found = PickupPoint(
        **texts | {"country_code": country if ALPHA_2.fullmatch(country) else country_code},
        max_weight_kg=_kilograms(point.get("poidsMaxi")),
        is_open=not is_true(point, "congesTotal"),
        closures=closures(periods, _date),
        kind=KINDS.get(texts["type_code"], "relay"),
        latitude=degrees(str(point.get("coordGeolocalisationLatitude", point.get("latitude")))),
        longitude=degrees(str(point.get("coordGeolocalisationLongitude", point.get("longitude")))),
        distance_m=None if distance_m is None or distance_m < 0 else distance_m,
        opening_hours=_opening_hours(point, day),
    )
    if not (found.name and found.zip_code and found.city):
        problem = "the carrier's record of this point has no address; let the customer choose another one"
        raise PickupPointRejected(CARRIER, problem, field=POINT)
    return found


def _opening_hours(point: Record, day: date) -> tuple[tuple[Span, ...], ...] | None:
    """Return the spans of each day, None where they are not known for the time of the year."""
    spans = tuple(joined(spans_of(string_of(point, f"horairesOuverture{name}"))) for name in WEEKDAYS)
    return spans if any(spans) and _is_in_season(point, day) else None


def _is_in_season(point: Record, day: date) -> bool:
    """Return true unless the hours hold between two days of the year, written `10/03`, and this is none of them."""
    ends = [string_of(point, f"periodeActiviteHoraire{end}").split("/")[::-1] for end in ("Deb", "Fin")]
    first, last = ends
    today = day.strftime("%m/%d").split("/")
    if not all(len(end) == len(today) for end in ends):
        return True
    return first <= today <= last if first <= last else not last < today < first


def _kilograms(value: Any) -> Decimal | None:
    grams = integer_of(value)
    return Decimal(grams) / GRAMS if grams and grams > 0 else None


def _date(value: Any) -> date:
    epoch_ms = integer_of(value)
    if epoch_ms is None:
        raise ValueError("not a time")
    return datetime.fromtimestamp(epoch_ms / 1000, PARIS).date()
