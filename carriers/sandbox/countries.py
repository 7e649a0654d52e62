"""Countries, the groups of them in the carriers' tables, and their postal codes."""

import re
from zoneinfo import ZoneInfo

from carriers.sandbox.data import rows

PARIS = ZoneInfo("Europe/Paris")  # both carriers' clock
_ROWS = {row["country"]: row for row in rows("countries.csv")}  # by ISO 3166-1 alpha-2


def codes(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def _group(name: str) -> frozenset[str]:
    return frozenset(country for country, row in _ROWS.items() if name in row["groups"].split())


COUNTRIES = frozenset(_ROWS)
FRANCE, OVERSEAS, EU, EUROPE = map(_group, ("france", "overseas", "eu", "europe"))
# alpha asks for no customs description here: the EU, Monaco and the EU's outermost regions.
EU_TERRITORY = _group("eu_territory")
_OUTSIDE = {row["country"]: tuple(row["postal_codes"].split()) for row in rows("outside_union.csv")}
# alpha's point service has overseas territories in this form, in requests and in the answers' `codePays`.
ALPHA_3 = {country: row["alpha_3"] for country, row in _ROWS.items() if row["alpha_3"]}


def is_outside_union(country: str, postal_code: str) -> bool:
    """Return whether it is one of a country of the EU, by its beginning, that lies outside the customs union."""
    return postal_code.replace(" ", "").startswith(_OUTSIDE.get(country, ()))


def is_postal_code_of(country: str, postal_code: str) -> bool:
    """Return whether it is one of the country; one without a pattern takes any."""
    pattern = _ROWS[country]["postal_code"] if country in _ROWS else ""
    return not pattern or re.fullmatch(pattern, postal_code.upper()) is not None
