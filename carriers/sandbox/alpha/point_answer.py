"""One pickup point in alpha's answer: children in alphabetical order, the empty ones left out."""

from datetime import date, datetime, time

from carriers.sandbox.alpha.soap import Elements, Tree
from carriers.sandbox.countries import ALPHA_3, PARIS
from carriers.sandbox.pickup_points import PickupPoint


def point_tree(point: PickupPoint, distance_m: int) -> Tree:
    leaves = {
        "accesPersonneMobiliteReduite": "true",
        "actif": "true" if point.is_active else "false",
        "adresse1": point.address1,
        "adresse2": point.address2,
        "adresse3": point.address3,
        "codePays": ALPHA_3.get(point.country, point.country),
        "codePostal": point.zip_code,
        "coordGeolocalisationLatitude": point.latitude,
        "coordGeolocalisationLongitude": point.longitude,
        "distanceEnMetre": str(distance_m),
        "identifiant": point.code,
        "localite": point.city,
        "nom": point.name,
        "poidsMaxi": str(point.max_weight_kg),  # kilograms
        "typeDePoint": "L" if point.is_locker else "P",
        "urlGoogleMaps": f"https://maps.example/?q={point.latitude},{point.longitude}",
    }
    filled: Elements = [(name, value) for name, value in leaves.items() if value]
    return sorted([*filled, *_opening_hours(point), *_holidays(point)], key=lambda child: child[0])


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
    first, last = point.holiday
    return [
        (
            "listePeriodeFermeture",
            [("calendarDeDebut", _moment(first)), ("calendarDeFin", _moment(last)), ("numero", "1")],
        )
    ]


def _moment(day: date) -> str:
    return datetime.combine(day, time(), PARIS).isoformat()
