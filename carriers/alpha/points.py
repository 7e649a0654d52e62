"""alpha's pickup point service: looks a relay up by its code."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from carriers.alpha.answers import check_code, result_of
from carriers.alpha.parties import CARRIER
from carriers.alpha.refusals import POINT_REFUSALS
from carriers.errors import PickupPointRejected
from carriers.http import soap
from carriers.http.messages import Answer, UnreadableError
from carriers.pickup_points import FIELD
from carriers.products import MAINLAND, PARIS
from carriers.redaction import Redactor
from carriers.shipment import Credentials, PickupPoint

POINTS_NAMESPACE: Final = "http://cxf.rechercheBt.soap.chronopost.fr/"
LOOK_UP: Final = "rechercheDetailPointChronopost"
LOOK_UP_ABROAD: Final = "rechercheDetailPointChronopostInter"
LANGUAGE: Final = "FR"
VERSION: Final = "2.0"

# The service knows overseas countries by their alpha-3 codes, and may answer with others.
_OVERSEAS: Final = MappingProxyType(
    dict(
        code.split("=")
        for code in "BL=BLM GF=GUF GP=GLP MQ=MTQ NC=NCL PF=PYF PM=SPM RE=REU TF=ATF WF=WLF YT=MYT".split()
    )
)
_ALPHA_2: Final = MappingProxyType({three: two for two, three in _OVERSEAS.items()} | {"FRA": "FR", "MCO": "MC"})
_ALPHA_2_LENGTH: Final = 2


def operation_for(country_code: str) -> str:
    """Return the operation that looks up a country's points."""
    return LOOK_UP if country_code in MAINLAND else LOOK_UP_ABROAD


def look_up(code: str, country_code: str, credentials: Credentials) -> bytes:
    """Return the request for one point."""
    operation = operation_for(country_code)
    fields = [
        ("accountNumber", credentials.account_number),
        ("password", credentials.password),
        ("identifiant", code),
    ]
    if operation == LOOK_UP_ABROAD:
        country = _OVERSEAS.get(country_code, country_code)
        fields += [("countryCode", country), ("language", LANGUAGE), ("version", VERSION)]
    return soap.envelope(operation, POINTS_NAMESPACE, [soap.leaf(*field) for field in fields])


def read_point(answer: Answer, *, code: str, country_code: str, redactor: Redactor) -> PickupPoint:
    """Return the point; raises PickupPointRejected for an unknown one.

    The answer's `qualiteReponse` is 0 in every look-up and means nothing there.
    """
    result = result_of(answer, operation_for(country_code), redactor)
    check_code(result, redactor, refusals=POINT_REFUSALS)
    points = list(soap.children(result, "listePointRelais"))
    if not points:
        unknown = POINT_REFUSALS["601"]
        raise PickupPointRejected(CARRIER, f"{unknown.cause}; {unknown.remedy}", field=FIELD)
    point = next((point for point in points if soap.text(point, "identifiant").upper() == code.upper()), None)
    if point is None:
        raise UnreadableError("the answer is about another pickup point")
    return _point(point, country_code)


def _point(point: Element, country_code: str) -> PickupPoint:
    country = soap.text(point, "codePays")
    return PickupPoint(
        code=soap.text(point, "identifiant"),
        name=soap.text(point, "nom"),
        address1=soap.text(point, "adresse1"),
        address2=soap.text(point, "adresse2"),
        address3=soap.text(point, "adresse3"),
        zip_code=soap.text(point, "codePostal"),
        city=soap.text(point, "localite"),
        country_code=country if len(country) == _ALPHA_2_LENGTH else _ALPHA_2.get(country, country_code),
        max_weight_kg=_kilograms(soap.text(point, "poidsMaxi")),
        is_open=soap.text(point, "actif").lower() not in ("false", "0"),
        closures=tuple(_closures(point)),
    )


def _kilograms(text: str) -> Decimal | None:
    """Return a weight in kilograms, the answers' unit although the specification says grams."""
    with suppress(InvalidOperation):
        weight_kg = Decimal(text)
        return weight_kg if weight_kg.is_finite() and weight_kg > 0 else None
    return None


def _closures(point: Element) -> Iterator[tuple[date, date]]:
    """Yield the first and the last day of each period in which the point is closed."""
    for period in soap.children(point, "listePeriodeFermeture"):
        with suppress(ValueError, OverflowError):
            yield _day(soap.text(period, "calendarDeDebut")), _day(soap.text(period, "calendarDeFin"))


def _day(text: str) -> date:
    moment = datetime.fromisoformat(text)
    return (moment.astimezone(PARIS) if moment.tzinfo else moment).date()
