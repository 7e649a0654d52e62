"""alpha's pickup point service: searches the relays of a place, looks one up by its code.

The page names 300 (an empty type or service), 302 (postal code), 306 and 307 (date), 317 (holiday tolerance), 319,
320, 321 (weight), 601, 700 and 1500; which field each of the others belongs to is a choice.
"""

import re
import uuid
from dataclasses import asdict
from datetime import datetime, time

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.soap import Elements, Tree
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.data import ALPHA_3, COUNTRIES, FRANCE, PARIS, content, filled
from carriers.sandbox.http import Response
from carriers.sandbox.pickup_points import PickupPoint, near, point_of
from carriers.sandbox.state import State

Fields = dict[str, str]

FRENCH, INTER, BY_SERVICE = (
    "recherchePointChronopost", "recherchePointChronopostInter", "recherchePointChronopostInterParService",
)  # fmt: skip
DETAIL, DETAIL_INTER = "rechercheDetailPointChronopost", "rechercheDetailPointChronopostInter"
NO_POINT, CREDENTIALS = 601, 1500
POINT = content("alpha/point.json")  # the leaves of an answer; weights are in kilograms
ALPHA_2 = {three: two for two, three in ALPHA_3.items()}
LOOKED_UP_QUALITY = "0"  # a good answer all the same
BY_ZIP_CODE, BY_ADDRESS = "1", "2"  # distances hold by address only
# A code that asks for an error: F0601 is error 601.
MAGIC_CODE = re.compile(r"F(\d{4})")


def _fields(message: soap.Message) -> Fields:
    """Return the children by name: all are optional, and a mistake in them is a business error."""
    known = soap.CHILDREN[message.operation]
    fields = soap.leaves(message.children, known, message.operation)
    try:
        validate_credentials(fields.get("accountNumber", ""), fields.get("password", ""))
    except soap.RefusalError:
        raise soap.RefusalError(CREDENTIALS) from None
    return {name: fields.get(name, "").strip() for name in known}


def _search(state: State, message: soap.Message) -> Response:
    fields = _fields(message)
    soap.validate(fields, tables.RULES["points"])
    country = _country_of(fields["countryCode"])
    soap.require(country, 301, "countryCode")
    soap.require(message.operation != FRENCH or country in FRANCE, NO_POINT)
    soap.require(country != "FR" or re.fullmatch(r"[0-9]{5}", fields["zipCode"]), 302, "zipCode")

    quality = BY_ADDRESS if fields["address"] else BY_ZIP_CODE
    return service.perform(state, message, lambda _: _answer(message, _found(country, fields), quality), fields["city"])


def _country_of(code: str) -> str:
    """Return a request's country as alpha-2; empty for one in another form than this service wants."""
    is_known = code not in ALPHA_3 and code in COUNTRIES | ALPHA_2.keys()
    return ALPHA_2.get(code, code) if is_known else ""


def _found(country: str, fields: Fields) -> list[tuple[PickupPoint, int]]:
    """Return the points of a place; the weight does not filter, and an inactive or closed point is listed as such."""
    try:
        datetime.strptime(fields["shippingDate"], "%d/%m/%Y")  # noqa: DTZ007 a day of Paris
    except ValueError:
        raise soap.RefusalError(307, "shippingDate") from None
    farthest_m = int(fields["maxDistanceSearch"]) * 1000
    found = [
        (point, distance_m if fields["address"] else 0)
        for point, distance_m in near("alpha", country, fields["zipCode"], fields["city"])
        if not (fields["address"] and distance_m > farthest_m) and not (fields["type"] == "C" and point.is_locker)
    ]
    return found[: int(fields["maxPointChronopost"])]


def _look_up(state: State, message: soap.Message) -> Response:
    fields = _fields(message)
    code = fields["identifiant"]
    magic = MAGIC_CODE.fullmatch(code)
    if magic and int(magic[1]) in tables.POINT_MESSAGES:
        raise soap.RefusalError(int(magic[1]))
    soap.require(code, 300, "identifiant")
    countries = FRANCE if message.operation == DETAIL else {_country_of(fields["countryCode"])}

    point = point_of("alpha", code)
    found = [(point, 0)] if point and point.country in countries else []
    return service.perform(state, message, lambda _: _answer(message, found, LOOKED_UP_QUALITY), code)


def _answer(message: soap.Message, found: list[tuple[PickupPoint, int]], quality: str) -> Response:
    soap.require(found, NO_POINT)
    points: soap.Elements = [("listePointRelais", point_tree(point, metres)) for point, metres in found]
    content: soap.Elements = [
        ("errorCode", "0"),
        ("errorMessage", "Code retour OK"),
        *points,
        ("qualiteReponse", quality),
        ("wsRequestId", str(uuid.uuid4())),
    ]
    return soap.response(message, content)


def point_tree(point: PickupPoint, distance_m: int) -> Tree:
    facts = {
        "is_active": str(point.is_active).lower(),
        "written_country": ALPHA_3.get(point.country, point.country),
        "distance_m": distance_m,
        "type": "L" if point.is_locker else "P",
        "map": f"https://maps.example/?q={point.latitude},{point.longitude}",
    }
    leaves = filled(POINT, asdict(point) | facts)
    texts: Elements = [(name, str(value)) for name, value in leaves.items() if value != ""]
    return sorted([*texts, *_opening_hours(point), *_holidays(point)], key=lambda child: child[0])


def _opening_hours(point: PickupPoint) -> Elements:
    """Return the days, in any order, without those that are closed; a locker, whose access is open, has none."""
    if point.is_locker:
        return []
    days = sorted(point.hours, key=lambda day: day * 5 % 7)
    return [("listeHoraireOuverture", _day(day, point.hours[day])) for day in days]


def _day(day: int, spans: tuple[str, ...]) -> Tree:
    ends = [span.split("-") for span in spans]
    periods: Elements = [("listeHoraireOuverture", [("debut", a), ("fin", b)]) for a, b in ends]
    return [("horairesAsString", " ".join(spans)), ("jour", str(day)), *periods]


def _holidays(point: PickupPoint) -> Elements:
    if point.holiday is None:
        return []
    ends = zip(("calendarDeDebut", "calendarDeFin"), point.holiday, strict=True)
    days: Elements = [(name, datetime.combine(day, time(), PARIS).isoformat()) for name, day in ends]
    return [("listePeriodeFermeture", [*days, ("numero", "1")])]


OPERATIONS = {**dict.fromkeys((FRENCH, INTER, BY_SERVICE), _search), **dict.fromkeys((DETAIL, DETAIL_INTER), _look_up)}
