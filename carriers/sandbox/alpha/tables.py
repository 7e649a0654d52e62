"""alpha's published tables, as the sandbox reads them: fields, products, error codes."""

from __future__ import annotations

from dataclasses import dataclass

from carriers.sandbox.countries import COUNTRIES, EUROPE, FRANCE, OVERSEAS

SHIPPING = "http://cxf.shipping.soap.chronopost.fr/"
TRACKING = "http://cxf.tracking.soap.chronopost.fr/"
CHILDREN = (
    "headerValue", "shipperValue", "customerValue", "recipientValue", "refValue", "skybillValue",
    "skybillParamsValue", "password", "modeRetour", "numberOfParcel", "version", "multiParcel",
)  # fmt: skip
REPEATABLE = frozenset({"shipperValue", "recipientValue", "refValue", "skybillValue"})
MOST_PARCELS = 100
HEAVIEST_KG, HEAVIEST_RELAY_KG = 30, 20

MESSAGES = {
    1: "System error", 29: "System error", 30: "invalid contract number", 31: "empty value",
    32: "incorrect length", 33: "invalid data", 34: "not a number", 35: "Code Service GeoPost not found",
    36: "file allocation", 37: "number allocation", 38: "Routing not found",
}  # fmt: skip
CONTRACT_REFUSAL = "invalid data: this contract may not make labels for this product"


@dataclass(frozen=True)
class Form:
    """The pattern of a field's text, and the error code for any other text."""

    pattern: str
    code: int = 33


TEXT = Form(r"[A-Za-z0-9 ]*")
POSTAL_CODE = Form(r"[A-Za-z0-9 -]*")
COUNTRY = Form("|".join(sorted(COUNTRIES)))
EMAIL = Form(r"[!-?A-~]+@[!-?A-~]+")
PHONE = Form(r"\+?[0-9 ]+")
INTEGER = Form(r"\d+", 34)
DECIMAL = Form(r"\d+(\.\d+)?", 34)
SHIP_DATE = Form(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
RELAY = Form(r"\d{4}[A-Za-z]")
SERVICE = Form(r"\d{1,3}", 34)
EMPTY = Form("")


@dataclass(frozen=True)
class Field:
    """One row of the page's table of fields."""

    name: str
    form: Form
    longest: int | None = None
    is_required: bool = False


def _required(name: str, form: Form, longest: int | None = None) -> Field:
    return Field(name, form, longest, is_required=True)


def _one_of(*values: str) -> Form:
    return Form("|".join(values))


def _place(prefix: str) -> tuple[Field, ...]:
    """Return the rows that sender, payer and recipient share."""
    return (
        _required(f"{prefix}Name", TEXT, 100),
        Field(f"{prefix}Name2", TEXT, 100),
        _required(f"{prefix}Adress1", TEXT, 38),
        Field(f"{prefix}Adress2", TEXT, 38),
        _required(f"{prefix}ZipCode", POSTAL_CODE, 9),
        _required(f"{prefix}City", TEXT, 50),
        _required(f"{prefix}Country", COUNTRY),
        Field(f"{prefix}CountryName", TEXT),
        Field(f"{prefix}ContactName", TEXT, 100),
        Field(f"{prefix}Email", EMAIL, 80),
        Field(f"{prefix}Phone", PHONE, 17),
        Field(f"{prefix}MobilePhone", PHONE, 17),
        Field(f"{prefix}Type", _one_of("1", "2")),
    )


def _money(prefix: str) -> tuple[Field, ...]:
    return Field(f"{prefix}Value", INTEGER), Field(f"{prefix}Currency", _one_of("EUR"))


def _payer(prefix: str) -> tuple[Field, ...]:
    civility = _required(f"{prefix}Civility", _one_of("E", "L", "M"))
    return (civility, *_place(prefix), _required(f"{prefix}PreAlert", INTEGER))


STRUCTURES: dict[str, tuple[Field, ...]] = {
    "headerValue": (
        _required("accountNumber", INTEGER),
        _required("idEmit", _one_of("CHRFR")),
        Field("identWebPro", EMPTY),
        Field("subAccount", EMPTY),
    ),
    "shipperValue": _payer("shipper"),
    "customerValue": (*_payer("customer"), Field("printAsSender", _one_of("Y", "N"))),
    "recipientValue": (*_place("recipient"), _required("recipientPreAlert", _one_of("0", "22"))),
    "refValue": (
        Field("shipperRef", TEXT, 35),
        Field("recipientRef", TEXT, 35),
        Field("idRelais", RELAY),
        Field("customerSkybillNumber", TEXT, 15),
    ),
    "skybillValue": (
        _required("productCode", Form(r"[0-9A-Z]{2}")),
        _required("service", SERVICE),
        _required("evtCode", _one_of("DC")),
        _required("objectType", _one_of("MAR")),
        _required("shipDate", SHIP_DATE),
        _required("shipHour", INTEGER),
        _required("weight", DECIMAL),
        _required("weightUnit", _one_of("KGM")),
        _required("height", DECIMAL),
        _required("length", DECIMAL),
        _required("width", DECIMAL),
        Field("bulkNumber", INTEGER),
        Field("skybillRank", INTEGER),
        *_money("cod"),
        *_money("customs"),
        *_money("insured"),
        Field("content1", TEXT, 45),
    ),
    "skybillParamsValue": (
        _required("duplicata", _one_of("N")),
        _required("mode", _one_of("PDF", "SPD", "THE")),
        _required("withReservation", _one_of("2")),
    ),
}
TOP_LEVEL = (
    _required("password", INTEGER),
    _required("modeRetour", _one_of("2")),
    _required("numberOfParcel", INTEGER),
    _required("version", _one_of("2.0")),
    _required("multiParcel", _one_of("Y", "N")),
)


@dataclass(frozen=True)
class Product:
    """A product, the countries it serves, and its services with their weights (above, up to, in kg)."""

    name: str
    countries: frozenset[str]
    services: dict[int, tuple[float, float]]
    is_relay: bool = False

    def has_service(self, service: int, weight_kg: float) -> bool:
        above_kg, up_to_kg = self.services.get(service, (0, 0))
        return above_kg < weight_kg <= up_to_kg


def _services(*numbers: int) -> dict[int, tuple[float, float]]:
    return dict.fromkeys(numbers, (0, HEAVIEST_KG))


_RELAY_EUROPE: dict[int, tuple[float, float]] = {337: (0, 3), 338: (3, HEAVIEST_RELAY_KG)}
# The published table does not define its areas: France counts as Europe, and as the world.
PRODUCTS = {
    "01": Product("Next day, 1 p.m.", FRANCE, _services(0, 6)),
    "16": Product("Next day, 6 p.m.", FRANCE, _services(0, 6)),
    "4I": Product("Same day", FRANCE, _services(973, 974)),
    "44": Product("Fast and economic, Europe", EUROPE, _services(0)),
    "17": Product("Express, worldwide", COUNTRIES, _services(0)),
    "86": Product("Relay, France", FRANCE, _services(0), is_relay=True),
    "49": Product("Relay, Europe", EUROPE, _RELAY_EUROPE, is_relay=True),
    "4P": Product("Relay, overseas", OVERSEAS, _services(368, 369), is_relay=True),
    "5E": Product("Shop to shop", EUROPE, _services(0), is_relay=True),
    "5X": Product("Shop direct", EUROPE, _services(6), is_relay=True),
}
