"""alpha's pickup point service as published: operations, children, error codes.

The page names 300 (an empty type or service), 302 (postal code), 306 and 307 (date), 317 (holiday tolerance), 319,
320, 321 (weight), 601, 700 and 1500; which field each of the others belongs to is a choice.
"""

from carriers.sandbox.countries import COUNTRIES
from carriers.sandbox.data import error_texts
from carriers.sandbox.point_rules import rules_of

FRENCH, INTER, BY_SERVICE = (
    "recherchePointChronopost", "recherchePointChronopostInter", "recherchePointChronopostInterParService",
)  # fmt: skip
DETAIL, DETAIL_INTER = "rechercheDetailPointChronopost", "rechercheDetailPointChronopostInter"
# Overseas countries are alpha-3 here, in requests and in the answers' `codePays`.
ALPHA_3 = {
    "BL": "BLM", "GF": "GUF", "GP": "GLP", "MF": "MAF", "MQ": "MTQ", "NC": "NCL", "PF": "PYF", "PM": "SPM",
    "RE": "REU", "TF": "ATF", "WF": "WLF", "YT": "MYT",
}  # fmt: skip
ALPHA_2 = {three: two for two, three in ALPHA_3.items()}

NO_POINT, SYSTEM, CREDENTIALS = 601, 700, 1500
MESSAGES = error_texts("alpha points")
RULES = rules_of("alpha")


def country_of(code: str) -> str | None:
    """Return a request's country as alpha-2; None for one in another form than this service wants."""
    if code in ALPHA_3 or code not in COUNTRIES | ALPHA_2.keys():
        return None
    return ALPHA_2.get(code, code)
