"""Countries, the groups of them in the carriers' tables, and their postal codes."""

import re
from zoneinfo import ZoneInfo

from carriers.sandbox.data import rows

PARIS = ZoneInfo("Europe/Paris")  # both carriers' clock


def codes(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


COUNTRIES = codes(  # ISO 3166-1 alpha-2
    """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW
    BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI
    FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN
    IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME
    MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF
    PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
    SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE
    YT ZA ZM ZW
    """
)
FRANCE = codes("FR MC")
OVERSEAS = codes("BL GF GP MF MQ NC PF PM RE TF WF YT")
# alpha's point service has them in this form, in requests and in the answers' `codePays`.
ALPHA_3 = {
    "BL": "BLM", "GF": "GUF", "GP": "GLP", "MF": "MAF", "MQ": "MTQ", "NC": "NCL", "PF": "PYF", "PM": "SPM",
    "RE": "REU", "TF": "ATF", "WF": "WLF", "YT": "MYT",
}  # fmt: skip
EU = codes("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK")
EUROPE = EU | FRANCE | codes("AD AL BA CH GB GG GI IM IS JE LI MD ME MK NO RS SM TR UA VA")
# alpha asks for no customs description here: the EU, Monaco and the EU's outermost regions.
EU_TERRITORY = EU | FRANCE | codes("GF GP MF MQ RE YT")

# A country that is not listed takes any postal code.
_POSTAL_CODES = {row["country"]: row["pattern"] for row in rows("postal_codes.csv")}


def is_postal_code_of(country: str, postal_code: str) -> bool:
    pattern = _POSTAL_CODES.get(country)
    return pattern is None or re.fullmatch(pattern, postal_code.upper()) is not None
