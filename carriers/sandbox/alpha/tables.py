"""alpha's published tables, as the sandbox reads them: fields, products, error codes."""

from dataclasses import dataclass

from carriers.sandbox.countries import COUNTRIES, EUROPE, FRANCE, OVERSEAS

SHIPPING = "http://cxf.shipping.soap.chronopost.fr/"
TRACKING = "http://cxf.tracking.soap.chronopost.fr/"
QUICKCOST = "http://cxf.quickcost.soap.chronopost.fr/"
POINTS = "http://cxf.rechercheBt.soap.chronopost.fr/"
CHILDREN = (
    "headerValue", "shipperValue", "customerValue", "recipientValue", "refValue", "skybillValue",
    "skybillParamsValue", "password", "modeRetour", "numberOfParcel", "version", "multiParcel",
)  # fmt: skip
REPEATABLE = frozenset({"shipperValue", "recipientValue", "refValue", "skybillValue"})
MOST_PARCELS = 100
MOST_INSURED_CENTS = 2_000_000
HEAVIEST_KG, HEAVIEST_RELAY_KG = 30, 20

MESSAGES = {
    1: "System error", 29: "System error while checking password", 30: "invalid contract number", 31: "empty value",
    32: "incorrect length", 33: "invalid data", 34: "not a number", 35: "Code Service GeoPost not found",
    36: "file allocation", 37: "number allocation", 38: "Routing not found",
}  # fmt: skip
CONTRACT_REFUSAL = "invalid data: this contract may not make labels for this product"
REFUSALS_33 = {  # code 33 by fault; the first three mean wrong credentials
    "colisacct": "Invalid accesColis account number",
    "colispwd": "Invalid accesColis password",
    "webpropwd": "Invalid identWebPro password",
    "contract": CONTRACT_REFUSAL,
    "badformat": "invalid data: shipDate",
}
# The account numbers that are refused, by their ends.
REFUSED_ACCOUNTS = {
    "000029": (29, "System error while checking password"),
    "000030": (30, "invalid contract number"),
    "000033": (33, CONTRACT_REFUSAL),
    "000133": (33, REFUSALS_33["colisacct"]),
    "000233": (33, REFUSALS_33["colispwd"]),
    "000333": (33, REFUSALS_33["webpropwd"]),
}


@dataclass(frozen=True)
class Form:
    """The pattern of a field's text, and the error code for any other text."""

    pattern: str
    code: int = 33


# ASCII letters, digits, spaces, and the hyphen between letters or digits.
TEXT = Form(r"(?:[A-Za-z0-9 ]|(?<=[A-Za-z0-9])-(?=[A-Za-z0-9]))*")
COUNTRY = Form("|".join(sorted(COUNTRIES)))
EMAIL = Form(r"[!-?A-~]+@[!-?A-~]+")
PHONE = Form(r"\+?[0-9 ]+")
# `+<country> <number>`, with the calling codes as the ITU gives them: none begins with another one.
RELAY_EUROPE_PHONE = Form(
    r"\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|(2[1-689]|3[578]|42|5[09]|6[7-9]|8[0578]|9[679])\d) \d+"
)
INTEGER = Form(r"\d+", 34)
DECIMAL = Form(r"\d+(\.\d+)?", 34)
SHIP_DATE = Form(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
RELAY = Form(r"[0-9A-Za-z]{5}")
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


def _party(prefix: str, *, pre_alert: Form = INTEGER, is_payer: bool = True) -> tuple[Field, ...]:
    """Return the rows that sender, payer and recipient share, in the schema's order."""
    return (
        _required(f"{prefix}Adress1", TEXT, 38),
        Field(f"{prefix}Adress2", TEXT, 38),
        _required(f"{prefix}City", TEXT, 50),
        Field(f"{prefix}Civility", _one_of("E", "L", "M"), is_required=is_payer),
        Field(f"{prefix}ContactName", TEXT, 100),
        _required(f"{prefix}Country", COUNTRY),
        Field(f"{prefix}CountryName", TEXT),
        Field(f"{prefix}Email", EMAIL, 80),
        Field(f"{prefix}MobilePhone", PHONE, 17),
        _required(f"{prefix}Name", TEXT, 100),
        Field(f"{prefix}Name2", TEXT, 100),
        Field(f"{prefix}Phone", PHONE, 17),
        _required(f"{prefix}PreAlert", pre_alert),
        _required(f"{prefix}ZipCode", TEXT, 9),
        Field(f"{prefix}Type", _one_of("1", "2")),
    )


def _money(prefix: str, value: Form = INTEGER) -> tuple[Field, ...]:
    return Field(f"{prefix}Currency", _one_of("EUR")), Field(f"{prefix}Value", value)


# In the schema's order, in which a request is recorded as sent or not.
STRUCTURES: dict[str, tuple[Field, ...]] = {
    "headerValue": (
        _required("accountNumber", INTEGER),
        _required("idEmit", _one_of("CHRFR")),
        Field("identWebPro", EMPTY),
        Field("subAccount", INTEGER),
    ),
    "shipperValue": _party("shipper"),
    "customerValue": (*_party("customer"), Field("printAsSender", _one_of("Y", "N"))),
    "recipientValue": _party("recipient", pre_alert=_one_of("0", "22"), is_payer=False),
    "refValue": (
        Field("customerSkybillNumber", TEXT, 15),
        Field("PCardTransactionNumber", TEXT),
        Field("recipientRef", TEXT, 35),
        Field("shipperRef", TEXT, 35),
        Field("idRelais", RELAY),
    ),
    "skybillValue": (
        Field("bulkNumber", INTEGER),
        *_money("cod"),
        *(Field(f"content{rank}", TEXT, 45) for rank in range(1, 6)),
        *_money("customs", DECIMAL),  # euros; the others are cents
        _required("evtCode", _one_of("DC")),
        *_money("insured"),
        Field("latitude", TEXT),
        Field("longitude", TEXT),
        Field("masterSkybillNumber", TEXT),
        _required("objectType", _one_of("MAR")),
        *_money("port"),
        _required("productCode", Form(r"[0-9A-Z]{2}")),
        Field("qualite", TEXT),
        _required("service", SERVICE),
        _required("shipDate", SHIP_DATE),
        _required("shipHour", INTEGER),
        Field("skybillRank", INTEGER),
        Field("source", TEXT),
        _required("weight", DECIMAL),
        _required("weightUnit", _one_of("KGM")),
        _required("height", DECIMAL),
        _required("length", DECIMAL),
        _required("width", DECIMAL),
        Field("as", TEXT, 3),
        Field("subAccount", INTEGER),
    ),
    "skybillParamsValue": (
        _required("duplicata", _one_of("N")),
        _required("mode", _one_of("PDF", "SPD", "THE")),
        _required("withReservation", _one_of("1", "2")),
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
    as_code: str = ""  # the `as` that it is bought with; others have none

    def has_service(self, service: int, weight_kg: float) -> bool:
        above_kg, up_to_kg = self.services.get(service, (0, 0))
        return above_kg < weight_kg <= up_to_kg


def _services(*numbers: int) -> dict[int, tuple[float, float]]:
    return dict.fromkeys(numbers, (0, HEAVIEST_KG))


_RELAY_EUROPE: dict[int, tuple[float, float]] = {337: (0, 3), 338: (3, HEAVIEST_RELAY_KG)}
# The published table does not define its areas: France counts as Europe, and as the world. 5E and 5X are bought at the
# points of France only, 86 at Monaco's too.
SATURDAY_RELAY_SERVICE = 369  # delivery on Saturday, for parcels of these days
SATURDAY_RELAY_WEEKDAYS = (3, 4)  # Thursday and Friday
_FRANCE_ALONE = frozenset({"FR"})
_NATIONAL = _services(0, 1, 6)  # as usual, on Monday, on Saturday
PRODUCTS = {
    "01": Product("Next day, 1 p.m.", FRANCE, _NATIONAL),
    "16": Product("Next day, 6 p.m.", FRANCE, _NATIONAL),
    "4I": Product("Same day", FRANCE, _services(0, 973, 974)),
    "44": Product("Fast and economic, Europe", EUROPE, _services(0)),
    "17": Product("Express, worldwide", COUNTRIES, _services(0)),
    "86": Product("Relay, France", FRANCE, _NATIONAL, is_relay=True),
    "49": Product("Relay, Europe", EUROPE, _RELAY_EUROPE, is_relay=True),
    "4P": Product("Relay, overseas", OVERSEAS, _services(368, 369), is_relay=True),
    "5E": Product("Shop to shop", _FRANCE_ALONE, _services(6), is_relay=True, as_code="A15"),
    "5X": Product("Shop direct", _FRANCE_ALONE, _services(6), is_relay=True),
}
