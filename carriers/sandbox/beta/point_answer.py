"""One pickup point in beta's answer."""

from datetime import date, datetime, time
from typing import Any

from carriers.sandbox.countries import FRANCE, PARIS
from carriers.sandbox.pickup_points import PickupPoint

WEEKDAYS = ("Lundi", "Mardi", "Mercredi", "Jeudi", "Vendredi", "Samedi", "Dimanche")
NO_SPAN = "00:00-00:00"
FRENCH_TYPES = {"post_office": "BPR", "carrier_site": "ACP", "relay": "A2P", "locker": "A2P"}
EUROPEAN_TYPES = {"post_office": "BDP", "carrier_site": "BDP", "relay": "CMT", "locker": "PCS"}


def type_of(point: PickupPoint) -> str:
    return (FRENCH_TYPES if point.country in FRANCE else EUROPEAN_TYPES).get(point.kind, "")


def point_json(point: PickupPoint, distance_m: int) -> dict[str, Any]:
    first, last = point.season or (None, None)
    return {
        "accesPersonneMobiliteReduite": True,
        "adresse1": point.address1,
        "adresse2": point.address2,
        "adresse3": point.address3,
        "codePays": point.country,
        "codePostal": point.zip_code,
        "congesPartiel": point.status == "holiday_later",
        "congesTotal": point.status == "holiday",
        "distanceEnMetre": distance_m,
        "distributionSort": None,
        **{f"horairesOuverture{name}": _spans(point, day) for day, name in enumerate(WEEKDAYS, 1)},
        "identifiant": point.code,
        "indiceDeLocalisation": "",
        "langue": "FR",
        "latitude": point.latitude,
        "libellePays": point.country,
        "listeConges": _holidays(point),
        "loanOfHandlingTool": False,
        "localite": point.city,
        "longitude": point.longitude,
        "lotAcheminement": None,
        "nom": point.name,
        "parking": False,
        "periodeActiviteHoraireDeb": first,
        "periodeActiviteHoraireFin": last,
        "poidsMaxi": point.max_weight_kg * 1000,  # grams
        "reseau": point.network,
        "typeDePoint": type_of(point),
        "versionPlanTri": None,
    }


def _spans(point: PickupPoint, day: int) -> str:
    """Write a day's two spans; NO_SPAN is none."""
    spans = ("00:00-23:59",) if point.is_locker else point.hours.get(day, ())
    return " ".join((*spans, NO_SPAN, NO_SPAN)[:2])


def _holidays(point: PickupPoint) -> list[dict[str, Any]]:
    if point.holiday is None:
        return []
    first, last = point.holiday
    return [{"numero": 1, "calendarDeDebut": _epoch_ms(first), "calendarDeFin": _epoch_ms(last)}]


def _epoch_ms(day: date) -> int:
    return int(datetime.combine(day, time(), PARIS).timestamp() * 1000)
