"""Pickup points: what is searched for, what answers are remembered for a day, and which points take a parcel."""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final, NamedTuple, Protocol

from carriers.errors import CarrierUnavailable, PickupPointRejected
from carriers.itinerary import shipping_day
from carriers.shipment import PickupPoint, Shipment
from carriers.text import BLANKS

DAY_S: Final = 24 * 3600
# Whether a point is open is asked again when the answer is older, or about another day.
FRESH_S: Final = 3600
SEARCH_FRESH_S: Final = 900
MAX_SEARCHES: Final = 500  # of some 20 kB; each has a place by its digest, where the next of the same place replaces it
HEAVY_KG: Final = Decimal(20)  # above it only post offices take a parcel
FIELD: Final = "pickupPointCode"
ALPHA_2: Final = re.compile(r"[A-Z]{2}")  # a country's code
# A point's texts, by the names that both carriers' services have for them.
TEXTS: Final = dict(
    pair.split("=")
    for pair in (
        "code=identifiant name=nom address1=adresse1 address2=adresse2 address3=adresse3 zip_code=codePostal"
        " city=localite country_code=codePays type_code=typeDePoint"
    ).split()
)

_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
_END: Final = re.compile(rf"{_TIME.pattern}|24:00")
_SPAN: Final = re.compile(r"(?<!\S)([0-9]{2}:[0-9]{2})\s*-\s*([0-9]{2}:[0-9]{2})(?!\S)")

Key = tuple[str, str]  # country and code
Span = tuple[str, str]  # such as 09:00 and 12:00


@dataclass(frozen=True)
class PointQuery:
    """A search near a place, for a parcel that is handed in on a day; `carrier_code` is the product's."""

    carrier_code: str
    country_code: str
    zip_code: str = field(repr=False)
    city: str = field(repr=False)
    day: date
    address1: str = field(default="", repr=False)
    weight_kg: Decimal | None = None

    @property
    def is_heavy(self) -> bool:
        return self.weight_kg is not None and self.weight_kg > HEAVY_KG

    @property
    def digest(self) -> str:
        """Return a digest of what decides the carrier's answer, which may be a customer's address."""
        place = (" ".join(text.split()).casefold() for text in (self.zip_code, self.city, self.address1))
        decisive = (self.carrier_code, self.country_code, *place, self.day, self.is_heavy)
        return sha256(repr(decisive).encode()).hexdigest()

    @property
    def words(self) -> Sequence[str]:
        """Return what may be a customer's, and is masked in a carrier's text."""
        return [word for text in (self.address1, self.city, self.zip_code) for word in (text, *text.split())]

    def is_taken_by(self, point: PickupPoint) -> bool:
        """Return whether the point is open on the day and takes the weight, as far as it is known."""
        most_kg = point.max_weight_kg
        is_light = self.weight_kg is None or most_kg is None or self.weight_kg <= most_kg
        return is_light and point.is_open_on(self.day)


class FoundPoints(NamedTuple):
    """The points of a search, and when the carrier was asked."""

    asked_at: datetime
    points: Sequence[PickupPoint]

    def is_of_the_last(self, seconds: float) -> bool:
        return _now() - self.asked_at < timedelta(seconds=seconds)


class SharedStore(Protocol):
    """Texts by name that are kept for a day where all processes find them, as far as that is possible."""

    def get(self, name: str, /) -> str | None: ...

    def update(self, texts: Mapping[str, str], /) -> None: ...


class PickupPointCache:
    """The answers of a point service: all processes find them.

    The answer about a point serves for an hour and the day that it is about, the answer to a search for a quarter of an
    hour. For the rest of 24 hours it stands in when the point service fails. The points of a search are kept as if each
    had been asked for.
    """

    def __init__(self, shared: SharedStore | None = None) -> None:
        self._shared: SharedStore = {} if shared is None else shared

    def get(self, key: Key, day: date, ask: Callable[[], PickupPoint]) -> PickupPoint:
        """Return the point, asked for unless a fresh answer about the day is known; raises what `ask` raises."""
        name, about = _name(key), str(day)
        known_about, known = _read(self._shared.get(name))
        if known and known_about == about and known.is_of_the_last(FRESH_S):
            return known.points[0]
        try:
            point = ask()
        except CarrierUnavailable:
            if known is None:
                raise
            return known.points[0]
        network = point.network or (known.points[0].network if known else "")
        self._shared.update({name: _written(about, FoundPoints(_now(), [replace(point, network=network)]))})
        return point

    def search(self, query: PointQuery, ask: Callable[[], Sequence[PickupPoint]]) -> FoundPoints:
        """Return the answer to a search, asked for unless a fresh one is known; raises what `ask` raises."""
        digest = query.digest
        name = f"search:{int(digest, 16) % MAX_SEARCHES}"
        known_about, known = _read(self._shared.get(name))
        known = known if known_about == digest else None  # another search has the place
        if known and known.is_of_the_last(SEARCH_FRESH_S):
            return known
        try:
            found = FoundPoints(_now(), ask())
        except CarrierUnavailable:
            if known is None:
                raise
            return known
        lean = [replace(point, opening_hours=None, distance_m=None) for point in found.points]
        points = {
            _name((query.country_code, point.code)): _written(str(query.day), FoundPoints(found.asked_at, [point]))
            for point in lean
        }
        self._shared.update({name: _written(digest, found), **points})
        return found

    def network_of(self, key: Key) -> str:
        """Return the network of a point that was shown within a day, empty if it is not known."""
        _, known = _read(self._shared.get(_name(key)))
        return known.points[0].network if known else ""


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


def _name(key: Key) -> str:
    return ":".join(("point", *key))


def _written(about: str, found: FoundPoints) -> str:
    """Return an answer as JSON, with the search or the day that it is about."""
    points = [asdict(point) for point in found.points]
    return json.dumps([about, found.asked_at.isoformat(), points], default=str)


def _read(text: str | None) -> tuple[str, FoundPoints | None]:
    """Return what an answer of the last day is about, and the answer; None without one, or of an earlier version."""
    with suppress(TypeError, ValueError, ArithmeticError):
        about, asked_at, points = json.loads(text or "")
        found = FoundPoints(datetime.fromisoformat(asked_at), [_point(**point) for point in points])
        return about, found if found.is_of_the_last(DAY_S) else None
    return "", None


def _point(*, max_weight_kg: Any, closures: Any, opening_hours: Any, **others: Any) -> PickupPoint:
    return PickupPoint(
        max_weight_kg=None if max_weight_kg is None else Decimal(max_weight_kg),
        closures=tuple((date.fromisoformat(first), date.fromisoformat(last)) for first, last in closures),
        opening_hours=opening_hours and tuple(tuple(map(tuple, spans)) for spans in opening_hours),
        **others,
    )


def check_point(carrier: str, point: PickupPoint, shipment: Shipment) -> None:
    """Raise PickupPointRejected for a point that is closed on the shipping day or too small for one of the parcels."""
    if not point.is_open_on(shipping_day(shipment)):
        raise PickupPointRejected(carrier, "is closed; let the customer choose another one", field=FIELD)
    heaviest_kg = max(package.weight_kg for package in shipment.packages)
    if point.max_weight_kg is not None and heaviest_kg > point.max_weight_kg:
        problem = f"takes parcels of at most {point.max_weight_kg.normalize():f} kg"
        raise PickupPointRejected(carrier, problem, field=FIELD)


def nearest_first(points: Iterable[PickupPoint]) -> list[PickupPoint]:
    """Sort points by their distance, each code once; those without one keep the carrier's order, at the end."""
    found: dict[str, PickupPoint] = {}
    for point in sorted(points, key=lambda point: (point.distance_m is None, point.distance_m or 0)):
        found.setdefault(point.code, point)
    return list(found.values())


def spans_of(text: str) -> list[Span]:
    """Return a day's spans from a text such as `09:00-12:00 14:00 - 18:00`."""
    return _SPAN.findall(text)


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return a day's opening hours in order, adjoining spans as one, without those that are empty or unreadable.

    A span that ends at its beginning or before it ends on the next day; 24:00 is that day's 00:00.
    """
    found: list[Span] = []
    for start, end in sorted(filter(None, map(_span, spans))):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    longest = ((start, min(end, _next_day(start))) for start, end in found)
    return tuple((start, f"{int(end[:2]) % 24:02}{end[2:]}") for start, end in longest)


def _span(span: Span) -> Span | None:
    """Return a span, its end on the next day as an hour above 24; None for an empty or unreadable one."""
    start, end = span
    if not (_TIME.fullmatch(start) and _END.fullmatch(end)) or start == end:
        return None
    return (start, end) if start < end else (start, _next_day(end))


def _next_day(clock: str) -> str:
    return f"{int(clock[:2]) + 24}{clock[2:]}"


def closures(periods: Iterable[tuple[Any, Any]], day_of: Callable[[Any], date]) -> tuple[tuple[date, date], ...]:
    """Return the first and the last day of each period that can be read; an end may be absent, not both."""
    found = []
    for first, last in periods:
        with suppress(TypeError, ValueError, OverflowError, OSError):
            if first or last:
                found.append((day_of(first) if first else date.min, day_of(last) if last else date.max))
    return tuple(found)


def degrees(text: str) -> float | None:
    """Return a coordinate, written with a point or a comma; None for a text that is none."""
    point = text.strip(BLANKS).replace(",", ".")
    return float(point) if re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{1,20})?", point) else None
