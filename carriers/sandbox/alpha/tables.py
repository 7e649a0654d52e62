"""alpha's published tables, as the sandbox reads them: fields, products, error codes."""

from dataclasses import dataclass

from carriers.sandbox.alpha.soap import RefusalError
from carriers.sandbox.data import COUNTRIES, EUROPE, OVERSEAS, codes, error_texts, rows, rules_of

SHIPPING = "http://cxf.shipping.soap.chronopost.fr/"
TRACKING = "http://cxf.tracking.soap.chronopost.fr/"
QUICKCOST = "http://cxf.quickcost.soap.chronopost.fr/"
POINTS = "http://cxf.rechercheBt.soap.chronopost.fr/"
GOODS = "customsValue"  # of each parcel, as the last children: published, used by no client seen, taken as it comes
REPEATABLE = frozenset({"shipperValue", "recipientValue", "refValue", "skybillValue", GOODS})
MOST_PARCELS = 100
MOST_INSURED_CENTS = 2_000_000
HEAVIEST_KG, HEAVIEST_RELAY_KG = 30, 20

MESSAGES, POINT_MESSAGES = error_texts("alpha"), error_texts("alpha points")
TRACKING_MESSAGES = MESSAGES | error_texts("alpha tracking")
QUICKCOST_MESSAGES = error_texts("alpha quickcost")
MESSAGES_OF = {POINTS: POINT_MESSAGES, TRACKING: TRACKING_MESSAGES, QUICKCOST: QUICKCOST_MESSAGES, SHIPPING: MESSAGES}
# Of faults and of the ends of account numbers that are refused; a text is that of code 33, of three of them wrong
# credentials.
_REFUSALS = rows("alpha/refusals.csv")
REFUSALS_33 = {row["fault"]: row["text"] for row in _REFUSALS if row["text"]}
REFUSED_ACCOUNTS = {row["account"]: row["fault"] for row in _REFUSALS if row["account"]}


def refusal_named(name: str) -> RefusalError:
    """Return the refusal for a fault's name or an error code."""
    if name.isdigit():
        return RefusalError(int(name))
    text = REFUSALS_33.get(name, f"invalid data: SANDBOX has no such fault for alpha ({name})")
    return RefusalError(33, text=text)


# `+<country> <number>`, with the calling codes as the ITU gives them: none begins with another one.
RELAY_EUROPE_PHONE = (
    r"\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|(2[1-689]|3[578]|42|5[09]|6[7-9]|8[0578]|9[679])\d) \d+"
)


# By structure, in the schema's order, in which a request is recorded as sent or not.
RULES = rules_of("alpha/fields.csv")
STRUCTURES = {name: rules for name, rules in RULES.items() if name.endswith("Value")}


@dataclass(frozen=True)
class Product:
    """A product, the countries it serves, and its services with their weights (above, up to, in kg)."""

    name: str
    countries: frozenset[str]
    services: dict[int, tuple[float, float]]
    is_relay: bool = False
    as_code: str = ""  # the `as` that it is bought with; others have none

    @property
    def heaviest_kg(self) -> int:
        return HEAVIEST_RELAY_KG if self.is_relay else HEAVIEST_KG


def _product(row: dict[str, str]) -> Product:
    """Read a product, whose countries are a group's name or codes, and its services, some `337:0-3` for weights."""
    countries = {"anywhere": COUNTRIES, "europe": EUROPE, "overseas": OVERSEAS}.get(row["countries"])
    services = {}
    for text in row["services"].split():
        number, _, weights = text.partition(":")
        above_kg, _, up_to_kg = weights.partition("-")
        services[int(number)] = (float(above_kg or 0), float(up_to_kg or HEAVIEST_KG))
    return Product(row["name"], countries or codes(row["countries"]), services, bool(row["is_relay"]), row["as"])


SATURDAY_RELAY_SERVICE = 369  # delivery on Saturday, for parcels of these days
SATURDAY_RELAY_WEEKDAYS = (3, 4)  # Thursday and Friday
# The published table does not define its areas: France counts as Europe, and as the world. 5E and 5X are bought at the
# points of France only, 86 at Monaco's too. Services 0, 1 and 6 are as usual, on Monday and on Saturday.
PRODUCTS = {row["code"]: _product(row) for row in rows("alpha/products.csv")}
