"""The directory of pickup points that both carriers' point services, and the purchases, know."""

from __future__ import annotations

import csv
import re
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from anyascii import anyascii

from carriers.sandbox.countries import PARIS

LATER_DAYS = 20
CLOSED_DAYS = 14


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
    kind: str  # relay, locker, post_office or carrier_site
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
    def holiday(self) -> tuple[date, date] | None:
        """Return the first and last day on which the point is closed."""
        today = datetime.now(PARIS).date()
        starts = {"holiday": today - timedelta(days=1), "holiday_later": today + timedelta(days=LATER_DAYS)}
        start = starts.get(self.status)
        return (start, start + timedelta(days=CLOSED_DAYS)) if start else None

    def is_closed_on(self, day: date) -> bool:
        return self.holiday is not None and self.holiday[0] <= day <= self.holiday[1]

    @property
    def is_open(self) -> bool:
        return self.is_active and not self.is_closed_on(datetime.now(PARIS).date())

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_open": self.is_open}


def _read() -> list[PickupPoint]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return [
            PickupPoint(**{**row, "max_weight_kg": int(row["max_weight_kg"])})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]


POINTS = tuple(_read())
_BY_CODE = {(point.carrier, point.code): point for point in POINTS}


def point_of(carrier: str, code: str) -> PickupPoint | None:
    """Return a point by its code; letters' case counts, because codes are the carrier's own text."""
    return _BY_CODE.get((carrier, code))


def near(carrier: str, country: str, zip_code: str, city: str) -> list[tuple[PickupPoint, int]]:
    """Return an area's points and their distances in metres, those of the town first.

    The city beats the postal code when they disagree; a postal code is accepted in the city's place.
    """
    known = [point for point in POINTS if (point.carrier, point.country) == (carrier, country)]
    towns = [point for point in known if folded(city) in (folded(point.city), folded(point.zip_code))]
    if not towns:
        towns = [point for point in known if point.zip_code == zip_code]
    area = (towns[0].zip_code if towns else zip_code)[:2]
    others = [point for point in known if point not in towns and point.zip_code[:2] == area]
    return [*_at_distances(towns, 150, 200), *_at_distances(others, 9_000, 2_500)]


def _at_distances(points: list[PickupPoint], first_m: int, step_m: int) -> list[tuple[PickupPoint, int]]:
    return [(point, first_m + step_m * rank) for rank, point in enumerate(points)]


def folded(text: str) -> str:
    """Return a text as addresses are compared: ASCII letters and digits, in capitals."""
    return re.sub(r"[^A-Z0-9]", "", anyascii(text).upper())
