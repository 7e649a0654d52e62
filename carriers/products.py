"""The catalogue of products: carrier, destinations and the carrier's codes.

The codes are the carriers' published defaults; a shop's contract may replace them (`ProductOverride`). Destinations
are limited only where the API's specification or a carrier's protocol limits them; otherwise the carrier decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo

from carriers.shipment import ProductOverride

DISPLAY_NAMES: Final = MappingProxyType({"alpha": "Alpha Express", "beta": "Beta Post"})  # as people read them
PARIS: Final = ZoneInfo("Europe/Paris")  # the time zone of both carriers' "today"


@dataclass(frozen=True)
class Zone:
    """Countries by ISO 3166-1 alpha-2 code, or all except these."""

    countries: frozenset[str]
    is_all_but: bool = False

    def __contains__(self, country_code: str) -> bool:
        return (country_code in self.countries) != self.is_all_but


def _zone(codes: str, *zones: Zone) -> Zone:
    return Zone(frozenset(codes.split()).union(*(zone.countries for zone in zones)))


ANYWHERE: Final = Zone(frozenset(), is_all_but=True)
MAINLAND: Final = _zone("FR MC")
OVERSEAS: Final = _zone("BL GF GP MQ PM RE YT NC PF TF WF")
FRANCE: Final = _zone("AD", MAINLAND)
BETA_PICKUP_EUROPE: Final = _zone("BE DE LU NL AT ES IE IT PT CZ DK EE HU LT LV PL SE SI SK FI")
EU_ABROAD: Final = _zone("BG CY GR HR MT RO", BETA_PICKUP_EUROPE)
EUROPE_ABROAD: Final = _zone("AD AL BA BY CH FO GB GG GI IM IS JE LI MD ME MK NO RS SM TR UA VA XK", EU_ABROAD)
EUROPE: Final = _zone("", MAINLAND, EUROPE_ABROAD)
NOT_SERVED_BY_BETA: Final = _zone("SO")
BETA_ANYWHERE: Final = Zone(NOT_SERVED_BY_BETA.countries, is_all_but=True)
BETA_ABROAD: Final = Zone(_zone("", MAINLAND, OVERSEAS, NOT_SERVED_BY_BETA).countries, is_all_but=True)
CUSTOMS_FREE: Final = _zone("", MAINLAND, EU_ABROAD)
BETA_OVERSEAS: Final = _zone("MF", OVERSEAS)  # as a place to send from, and for linked parcels


@dataclass(frozen=True)
class Route:
    """One of a product's carrier codes, and the origins, destinations and weights that it is for."""

    carrier_code: str
    service: str = ""
    zone: Zone = ANYWHERE
    origin: Zone = ANYWHERE
    up_to_kg: Decimal | None = None
    as_code: str = ""

    def fits(self, sender_country_code: str, country_code: str, weight_kg: Decimal) -> bool:
        """Return true if this is the code for the parcel."""
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
        as_code = override.as_code or ("" if override.service else default.as_code)
        return Route(override.carrier_code, override.service or default.service, as_code=as_code)


def _alpha(code: str, meaning: str, *routes: Route, zone: Zone = ANYWHERE) -> Product:
    return Product(code, "alpha", meaning, routes, zone)


def _alpha_relay(code: str, meaning: str, *routes: Route, zone: Zone = ANYWHERE) -> Product:
    return Product(code, "alpha", meaning, routes, zone, needs_pickup_point=True, max_weight_kg=Decimal(20))


_ELSEWHERE: Final = Zone(BETA_OVERSEAS.countries, is_all_but=True)


def _beta(code: str, meaning: str, zone: Zone, *routes: Route) -> Product:
    """From overseas, France and the EU are served under other codes."""
    return Product(code, "beta", meaning, routes, zone)


def _beta_pickup(code: str, meaning: str, zone: Zone, *routes: Route) -> Product:
    return Product(code, "beta", meaning, routes, zone, needs_pickup_point=True)


_CATALOGUE: Final = (
    # Delivery on Saturday (service 6 of the next two, 369 of 4P) is an extra, so it takes a contract's override.
    _alpha("alpha-18", "Next day before 6 p.m.", Route("16", "0")),
    _alpha("alpha-13", "Next day before 1 p.m.", Route("01", "0")),
    _alpha("alpha_jour_j", "Same-day delivery", Route("4I", "973")),
    _alpha("alpha_rapide_eco", "Fast and economic (Europe)", Route("44", "0"), zone=EUROPE),
    _alpha("alpha_express_world", "Express worldwide (international)", Route("17", "0")),
    _alpha_relay("relais", "Relay delivery, France", Route("86", "0"), zone=MAINLAND),
    _alpha_relay(
        "alpha_relais_europe_outre_mer",
        "Relay, Europe and overseas",
        Route("4P", "368", OVERSEAS),
        Route("49", "337", EUROPE, up_to_kg=Decimal(3)),
        Route("49", "338", EUROPE),
        zone=_zone("", EUROPE, OVERSEAS),
    ),
    _alpha_relay("shop2shop", "Shop-to-shop", Route("5E", "6", _zone("FR"), as_code="A15")),
    _alpha_relay("alpha_2shopdirect", "Shop direct", Route("5X", "6", _zone("FR"))),
    _beta(
        "beta",
        "Generic",
        BETA_ANYWHERE,
        Route("COM", zone=MAINLAND, origin=BETA_OVERSEAS),
        Route("COLI", zone=EU_ABROAD, origin=BETA_OVERSEAS),
        Route("DOM", zone=_zone("BE CH", FRANCE)),
        Route("COM", zone=OVERSEAS),
        Route("DOS"),
    ),
    _beta(
        "beta_domicile_signature_france",
        "Home, with signature, France",
        FRANCE,
        Route("CDS", zone=MAINLAND, origin=BETA_OVERSEAS),
        Route("DOS"),
    ),
    _beta(
        "beta_domicile_sans_signature_france",
        "Home, without signature, France",
        FRANCE,
        Route("COM", zone=MAINLAND, origin=BETA_OVERSEAS),
        Route("DOM"),
    ),
    _beta_pickup("beta_point_retrait_france", "Pickup point, France", MAINLAND, Route("HD", origin=_ELSEWHERE)),
    _beta(
        "beta_domicile_signature_europe",
        "Home, with signature, Europe",
        EUROPE_ABROAD,
        Route("COLI", zone=EU_ABROAD, origin=BETA_OVERSEAS),
        Route("DOS"),
    ),
    _beta(
        "beta_domicile_sans_signature_europe",
        "Home, without signature, Europe",
        _zone("BE CH"),
        Route("DOM", origin=_ELSEWHERE),
    ),
    _beta_pickup(
        "beta_point_retrait_europe", "Pickup point, Europe", BETA_PICKUP_EUROPE, Route("HD", origin=_ELSEWHERE)
    ),
    _beta("beta_domicile_signature_outre_mer", "Home, with signature, overseas", OVERSEAS, Route("CDS")),
    _beta("beta_domicile_sans_signature_outre_mer", "Home, without signature, overseas", OVERSEAS, Route("COM")),
    _beta(
        "beta_domicile_signature_monde",
        "Home, with signature, worldwide",
        BETA_ABROAD,
        Route("COLI", zone=EU_ABROAD, origin=BETA_OVERSEAS),
        Route("DOS"),
    ),
)

PRODUCTS: Final[Mapping[str, Product]] = MappingProxyType({product.code: product for product in _CATALOGUE})
