"""alpha's pickup point service as published: operations, children, error codes.

The page names 300 (an empty type or service), 302 (postal code), 306 and 307 (date), 317 (holiday tolerance), 319,
320, 321 (weight), 601, 700 and 1500; which field each of the others belongs to is a choice.
"""

import re
from dataclasses import dataclass

from carriers.sandbox.countries import COUNTRIES
from carriers.sandbox.data import error_texts

FRENCH, INTER, BY_SERVICE = (
    "recherchePointChronopost", "recherchePointChronopostInter", "recherchePointChronopostInterParService",
)  # fmt: skip
DETAIL, DETAIL_INTER = "rechercheDetailPointChronopost", "rechercheDetailPointChronopostInter"
_SEARCH = (
    "accountNumber", "password", "address", "zipCode", "city", "countryCode", "type", "productCode", "service",
    "weight", "shippingDate", "maxPointChronopost", "maxDistanceSearch", "holidayTolerant",
)  # fmt: skip
_DETAIL = ("accountNumber", "password", "identifiant")
CHILDREN = {
    FRENCH: _SEARCH,
    INTER: (*_SEARCH, "language", "version"),
    BY_SERVICE: (*_SEARCH, "serviceList", "language", "version"),
    DETAIL: _DETAIL,
    DETAIL_INTER: (*_DETAIL, "countryCode", "language", "version"),
}
# Overseas countries are alpha-3 here, in requests and in the answers' `codePays`.
ALPHA_3 = {
    "BL": "BLM", "GF": "GUF", "GP": "GLP", "MF": "MAF", "MQ": "MTQ", "NC": "NCL", "PF": "PYF", "PM": "SPM",
    "RE": "REU", "TF": "ATF", "WF": "WLF", "YT": "MYT",
}  # fmt: skip
ALPHA_2 = {three: two for two, three in ALPHA_3.items()}
MOST_POINTS, FARTHEST_KM = 25, 40

NO_POINT, SYSTEM, CREDENTIALS = 601, 700, 1500
MESSAGES = error_texts("alpha points")


@dataclass(frozen=True)
class Rule:
    """The pattern of a child's text and the code for another; an empty text is one, too, where it is required."""

    name: str
    pattern: str
    code: int
    is_required: bool = False

    def is_met(self, value: str) -> bool:
        return re.fullmatch(self.pattern, value, re.ASCII) is not None if value else not self.is_required


RULES = (
    Rule("type", "[PC]", 300, is_required=True),
    Rule("service", "[A-Z]", 300, is_required=True),
    Rule("city", ".+", SYSTEM, is_required=True),
    Rule("zipCode", "[A-Za-z0-9 -]{1,10}", 302, is_required=True),
    Rule("productCode", "[0-9A-Z]{1,2}", 300),
    Rule("shippingDate", r"(0[1-9]|[12]\d|3[01])/(0[1-9]|1[0-2])/\d{4}", 306, is_required=True),
    Rule("weight", r"\d{1,5}", 321, is_required=True),
    Rule("maxPointChronopost", rf"[1-9]|1\d|2[0-{MOST_POINTS % 10}]", 320, is_required=True),
    Rule("maxDistanceSearch", rf"[1-9]|[123]\d|{FARTHEST_KM}", 319, is_required=True),
    Rule("holidayTolerant", "1", 317, is_required=True),
    Rule("language", "FR|DE", 309),
    Rule("version", r"2\.0", 309),
)


def country_of(code: str) -> str | None:
    """Return a request's country as alpha-2; None for one in another form than this service wants."""
    if code in ALPHA_3 or code not in COUNTRIES | ALPHA_2.keys():
        return None
    return ALPHA_2.get(code, code)
