"""The catalogue of products, read from `products.csv` and `zones.csv`: carrier, destinations and the carrier's codes.

A product's rows are its routes, of which the first that fits is used. From overseas, beta serves France and the EU
under other codes. Delivery on Saturday (service 6 of alpha's 16 and 01, 369 of 4P) is an extra, so it takes a
contract's override. The codes are the carriers' published defaults; a shop's contract may replace them
(`ProductOverride`). Destinations are limited only where the API's specification or a carrier's protocol limits them;
otherwise the carrier decides.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Final
from zoneinfo import ZoneInfo

from carriers.data import rows_of
from carriers.shipment import ProductOverride

DISPLAY_NAMES: Final = {"alpha": "Alpha Express", "beta": "Beta Post"}  # as people read them
PARIS: Final = ZoneInfo("Europe/Paris")  # the time zone of both carriers' "today"


@dataclass(frozen=True)
class Zone:
    """Countries by ISO 3166-1 alpha-2 code, or all except these."""

    countries: frozenset[str]
    is_all_but: bool = False

    def __contains__(self, country_code: str) -> bool:
        return (country_code in self.countries) != self.is_all_but


_ZONES: Final[dict[str, Zone]] = {}


def _zone(text: str) -> Zone:
    """Return the zone of these words: countries and zones' names, or `all but` them; without any it is anywhere."""
    is_all_but = not text or text.startswith("all but ")
    codes = (_ZONES[word].countries if word in _ZONES else {word} for word in text.removeprefix("all but ").split())
    return Zone(frozenset().union(*codes), is_all_but)


for _row in rows_of("zones.csv"):
    _ZONES[_row["zone"]] = _zone(_row["countries"])
ANYWHERE: Final = _zone("")
MAINLAND: Final = _ZONES["mainland"]
OVERSEAS: Final = _ZONES["overseas"]  # to which beta has codes of its own
ALPHA_OVERSEAS: Final = _ZONES["alpha_overseas"]  # of its relays
CUSTOMS_FREE: Final = _ZONES["customs_free"]
BETA_OVERSEAS: Final = _ZONES["beta_overseas"]  # as a place to send from, and for linked parcels


@dataclass(frozen=True)
class Route:
    """One of a product's carrier codes, and the origins, destinations and weights that it is for.

    `saturday_service` takes the service's place on Saturdays, where there is one.
    """

    carrier_code: str
    service: str = ""
    saturday_service: str = ""
    zone: Zone = ANYWHERE
    origin: Zone = ANYWHERE
    up_to_kg: Decimal | None = None
    as_code: str = ""

    def fits(self, sender_country_code: str, country_code: str, weight_kg: Decimal) -> bool:
        """Return whether this is the code for the parcel."""
        is_between = sender_country_code in self.origin and country_code in self.zone
        return is_between and (self.up_to_kg is None or weight_kg <= self.up_to_kg)


@dataclass(frozen=True)
class Product:
    """A product of the catalogue; its first route that fits is used."""

    code: str
    carrier: str
    meaning: str
    routes: tuple[Route, ...]
    zone: Zone = ANYWHERE
    needs_pickup_point: bool = False
    max_weight_kg: Decimal = Decimal(30)

    def route(
        self,
        sender_country_code: str,
        country_code: str,
        weight_kg: Decimal,
        override: ProductOverride | None = None,
    ) -> Route | None:
        """Return the carrier code, service and `as` for one parcel, or None if the product does not go there."""
        if country_code not in self.zone:
            return None
        default = next((r for r in self.routes if r.fits(sender_country_code, country_code, weight_kg)), None)
        if override is None:
            return default
        default = default or Route(override.carrier_code)
        # `as` belongs to a service: one without the other is no product.
        if override.service:
            return Route(override.carrier_code, override.service, as_code=override.as_code)
        as_code = override.as_code or default.as_code
        return Route(override.carrier_code, default.service, default.saturday_service, as_code=as_code)

    def without_route(self, sender_country_code: str, country_code: str) -> str:
        """Say that it does not go there; the origin is named where it goes there from elsewhere."""
        goes_there = country_code in self.zone and any(country_code in route.zone for route in self.routes)
        origin = f"from {sender_country_code} " if goes_there else ""
        return f"{self.code} does not go {origin}to {country_code}"


def _route(row: Mapping[str, str]) -> Route:
    up_to_kg = Decimal(row["up_to_kg"]) if row["up_to_kg"] else None
    places = _zone(row["to"]), _zone(row["from"])
    return Route(row["carrier_code"], row["service"], row["saturday"], *places, up_to_kg, row["as"])


def _catalogue() -> Iterator[Product]:
    """Read the products: a row for each of their routes, of which the first has what is true of all."""
    for code, rows in groupby(rows_of("products.csv"), itemgetter("product")):
        first, *others = rows
        yield Product(
            code,
            first["carrier"],
            first["meaning"],
            tuple(map(_route, (first, *others))),
            _zone(first["destinations"]),
            needs_pickup_point=bool(first["is_pickup"]),
            max_weight_kg=Decimal(first["max_kg"]),
        )


PRODUCTS: Final[Mapping[str, Product]] = {product.code: product for product in _catalogue()}
