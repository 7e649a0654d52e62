"""Validates a parcel's options: insurance, the network abroad, words to the driver."""

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.customs import OUTSIDE
from carriers.sandbox.beta.errors import Violations
from carriers.sandbox.beta.json_request import Json
from carriers.sandbox.countries import codes

INSURED = codes("DOS CDS COL HD CORE CORI COLI")
NOT_INSURED = codes("SX SS")
MOST_INSURED_CENTS, MOST_INSURED_AT_POINTS_CENTS = 500_000, 100_000
NOT_INSURABLE, WRONG_OPTION = 30309, 30026
LOCAL_POST, PARTNER = 1, 0  # of reseauPostal
WITH_NETWORKS = codes("AT BE DE DK EE ES FI IT LU NL PL")


def validate_options(violations: Violations, letter: Json) -> None:
    violations.cut(letter["parcel"], {"instructions": tables.LONGEST_INSTRUCTIONS}, WRONG_OPTION)
    _validate_insurance(violations, letter)
    _validate_network(violations, letter)


def _validate_insurance(violations: Violations, letter: Json) -> None:
    cents = letter["parcel"].get("insuranceValue")
    if cents is None:
        return
    code, country = letter["service"].get("productCode"), letter["addressee"]["address"].get("countryCode")
    most_cents = MOST_INSURED_AT_POINTS_CENTS if code in tables.PICKUP_CODES else MOST_INSURED_CENTS
    violations.require(code in INSURED and country not in NOT_INSURED, NOT_INSURABLE, "insuranceValue: not here")
    violations.require(0 < cents <= most_cents, NOT_INSURABLE, f"insuranceValue, of at most {most_cents} cents")


def _validate_network(violations: Violations, letter: Json) -> None:
    """Require the local post to the Canaries, Ceuta and Melilla; elsewhere it is a choice of DOS to some countries."""
    service, address = letter["service"], letter["addressee"]["address"]
    network, country = service.get("reseauPostal"), address.get("countryCode", "")
    if country == "ES" and address.get("zipCode", "").startswith(OUTSIDE["ES"]):
        violations.require(network == LOCAL_POST, WRONG_OPTION, "reseauPostal, 1 to this postal code")
    elif network is not None:
        is_possible = service.get("productCode") == "DOS" and country in WITH_NETWORKS
        violations.require(is_possible and network in (LOCAL_POST, PARTNER), WRONG_OPTION, "reseauPostal")
