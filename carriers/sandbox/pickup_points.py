"""The directory of pickup points that both carriers' services and the purchases know, and the rules of its requests."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from anyascii import anyascii

from carriers.sandbox.data import PARIS, content, rows

POINTS_IN_A_TOWN = 18
OVERSEAS = ("RE", "GP")  # beta has no pickup points there
WORDS = content("pickup_point_names.json")  # five streets of a country (of others those of FR) and names of a kind
# In turn; beta's have a post office in the place of every eighth.
KINDS = ("relay", "relay", "locker", "relay", "relay", "locker", "relay", "relay")
LOCKER_KG = (5, 20, 10)
STATUSES = {5: "holiday", 9: "holiday_later", 13: "inactive", 16: "full"}  # others are open
LETTERS = "JKTUVXZ"  # of alpha's codes
FIRST_CODE = {"alpha": 2000, "beta": 300_000}
# Two records of beta's that nobody can be sent to, both in Liège: their field, which is empty.
BROKEN = {1: "name", 2: "kind"}
BROKEN_TOWN = "Liège"
LATER_DAYS = 20
CLOSED_DAYS = 14
METRES_A_DEGREE = 111_000
Week = dict[int, tuple[str, ...]]  # spans by day, from 1, Monday; a day that is left out is closed


def _made_up() -> Iterator[dict[str, Any]]:
    """Yield two thousand points, the same ones each time: a few of each kind in every street of sixty towns."""
    made: Counter[str] = Counter()
    for town_number, town in enumerate(rows("towns.csv")):
        for carrier in FIRST_CODE:
            if carrier == "beta" and town["country"] in OVERSEAS:
                continue
            for rank in range(POINTS_IN_A_TOWN):
                yield _row(carrier, town, town_number, rank, made[carrier])
                made[carrier] += 1


def _row(carrier: str, town: dict[str, str], town_number: int, rank: int, number: int) -> dict[str, Any]:
    kind = "post_office" if carrier == "beta" and rank % len(KINDS) == 1 else KINDS[rank % len(KINDS)]
    country, style = town["country"], number % 5
    streets, house = WORDS["streets"], 1 + 7 * rank
    letter = LETTERS[number % len(LETTERS)] if carrier == "alpha" else ""
    street = streets.get(country, streets["FR"])[style]
    turn, degrees = rank * 2.4, 0.0011 * (rank + 1)  # on a spiral, about a hundred metres apart
    row = town | {
        "carrier": carrier,
        "code": f"{FIRST_CODE[carrier] + number}{letter}",
        "name": f"{WORDS['names'][kind][style]} {rank + 1}",
        "address1": f"{street} {house}" if country in streets and country != "FR" else f"{house} {street}",
        "address2": "" if rank % 7 else "Hall B",
        "address3": "",
        "kind": kind,
        "network": _network(carrier, country, kind, town_number),
        "max_weight_kg": {"locker": LOCKER_KG[rank % 3], "post_office": 30}.get(kind, 20),
        "status": STATUSES.get((rank + town_number) % POINTS_IN_A_TOWN, "open"),
        "latitude": f"{float(town['latitude']) + degrees * math.sin(turn):.6f}",
        "longitude": f"{float(town['longitude']) + degrees * math.cos(turn):.6f}",
    }
    is_broken = carrier == "beta" and town["city"] == BROKEN_TOWN and rank in BROKEN
    return row | ({BROKEN[rank]: ""} if is_broken else {})


def _network(carrier: str, country: str, kind: str, town_number: int) -> str:
    """Return beta's network; abroad towns that are far from each other have different ones."""
    if carrier == "alpha":
        return ""
    if country == "FR":
        return "R01" if kind == "post_office" else "R03"
    return f"X{1 + town_number % 3:02d}"


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
POINTS = (*NAMED, *map(_point, _made_up()))
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
