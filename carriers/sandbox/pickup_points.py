"""The directory of pickup points that both carriers' point services, and the purchases, know."""

import math
import re
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from anyascii import anyascii

from carriers.sandbox import point_directory
from carriers.sandbox.countries import PARIS
from carriers.sandbox.data import rows

LATER_DAYS = 20
CLOSED_DAYS = 14
METRES_A_DEGREE = 111_000
Week = dict[int, tuple[str, ...]]  # spans by day, from 1, Monday; a day that is left out is closed


def _week(days: range, *spans: str) -> Week:
    return dict.fromkeys(days, spans)


# Points have them in turn. Some spans adjoin.
WEEKS = (
    _week(range(1, 6), "08:15-12:00", "14:00-19:00") | _week(range(6, 7), "09:00-12:30"),
    _week(range(1, 7), "07:00-21:00") | _week(range(7, 8), "09:00-13:00"),
    _week(range(2, 7), "09:30-12:00", "12:00-18:30"),
)


@dataclass(frozen=True)
class PickupPoint:
    """One pickup point; `status` is open, holiday (closed now), holiday_later, inactive or full."""

    carrier: str
    country: str  # ISO 3166-1 alpha-2
    code: str
    name: str
    address1: str
    address2: str
    address3: str
    zip_code: str
    city: str
    latitude: str
    longitude: str
    kind: str  # relay, locker, post_office or carrier_site; one of beta's records has none
    network: str  # beta's `reseau`
    max_weight_kg: int
    status: str

    @property
    def is_active(self) -> bool:
        return self.status not in ("inactive", "full")

    @property
    def is_locker(self) -> bool:
        return self.kind == "locker"

    @property
    def hours(self) -> Week:
        """Return the opening hours."""
        return WEEKS[int(re.sub(r"\D", "", self.code) or 0) % len(WEEKS)]

    @property
    def season(self) -> tuple[str, str] | None:
        """Return the first and the last day of the year between which the hours hold, of some of beta's points."""
        return ("10/03", "13/06") if self.code.endswith("50") and self.carrier == "beta" else None

    @property
    def holiday(self) -> tuple[date, date] | None:
        """Return the first and last day on which the point is closed."""
        today = datetime.now(PARIS).date()
        starts = {"holiday": today - timedelta(days=1), "holiday_later": today + timedelta(days=LATER_DAYS)}
        start = starts.get(self.status)
        return (start, start + timedelta(days=CLOSED_DAYS)) if start else None

    @property
    def is_open(self) -> bool:
        first, last = self.holiday or (date.max, date.max)
        return self.is_active and not first <= datetime.now(PARIS).date() <= last

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_open": self.is_open}


def _point(row: dict[str, Any]) -> PickupPoint:
    return PickupPoint(**row | {"max_weight_kg": int(row["max_weight_kg"])})


NAMED = tuple(map(_point, rows("pickup_points.csv")))  # those that tests and examples ask for by their code
POINTS = (*NAMED, *map(_point, point_directory.points()))
_BY_CODE = {(point.carrier, point.code): point for point in POINTS}


def point_of(carrier: str, code: str) -> PickupPoint | None:
    """Return a point by its code; letters' case counts, because codes are the carrier's own text."""
    return _BY_CODE.get((carrier, code))


def near(carrier: str, country: str, zip_code: str, city: str) -> list[tuple[PickupPoint, int]]:
    """Return an area's points and their distances in metres, the nearest first.

    The city beats the postal code when they disagree; a postal code is accepted in the city's place.
    """
    known = [point for point in POINTS if (point.carrier, point.country) == (carrier, country)]
    towns = [point for point in known if folded(city) in (folded(point.city), folded(point.zip_code))]
    same = [point for point in (towns or known) if folded(point.zip_code) == folded(zip_code)]
    towns = towns or same
    area = (towns[0].zip_code if towns else zip_code)[:2]
    found = [point for point in known if point in towns or point.zip_code[:2] == area]
    origin = next(iter((*same, *towns, *found)), None)
    return sorted(((point, _metres(origin, point)) for point in found), key=lambda each: each[1]) if origin else []


def _metres(origin: PickupPoint, point: PickupPoint) -> int:
    north = float(point.latitude) - float(origin.latitude)
    east = (float(point.longitude) - float(origin.longitude)) * math.cos(math.radians(float(origin.latitude)))
    return 150 + round(METRES_A_DEGREE * math.hypot(north, east))


def folded(text: str) -> str:
    """Return a text as addresses are compared: ASCII letters and digits, in capitals."""
    return re.sub(r"[^A-Z0-9]", "", anyascii(text).upper())
