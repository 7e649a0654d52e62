"""Validates what a parcel says beside its addresses: the pickup point, options (insurance, network), phone numbers."""

import re

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.customs import OUTSIDE
from carriers.sandbox.beta.errors import Violations
from carriers.sandbox.beta.json_request import Json
from carriers.sandbox.beta.points import type_of
from carriers.sandbox.countries import codes
from carriers.sandbox.pickup_points import PickupPoint, folded, point_of

# The kinds that each code takes: HD takes every one.
TAKEN = {
    "HD": ("BPR", "ACP", "CDI", "A2P", "CMT", "BDP", "PCS"),
    "BPR": ("BPR", "ACP", "CDI"),
    **{code: (code,) for code in ("A2P", "CMT", "BDP", "PCS")},
}
INSURED = codes("DOS CDS COL HD CORE CORI COLI")
NOT_INSURED = codes("SX SS")
MOST_INSURED_CENTS, MOST_INSURED_AT_POINTS_CENTS = 500_000, 100_000
NOT_INSURABLE, WRONG_OPTION = 30309, 30026
LOCAL_POST, PARTNER = 1, 0  # of reseauPostal
WITH_NETWORKS = codes("AT BE DE DK EE ES FI IT LU NL PL")
FRENCH_MOBILE = r"(0|\+330?)[67]\d{8}"
FOREIGN_MOBILE = r"\+[1-9]\d{8,13}"
BELGIAN_MOBILE = r"\+324\d{8}"  # of a parcel to a pickup point; to a home any number will do
MOBILES = {"FR": (FRENCH_MOBILE,), "MC": (FRENCH_MOBILE, FOREIGN_MOBILE)}
NEEDED, WRONG, WRONG_SENDER = 30220, 30221, 30065
ALWAYS_NEEDED = ("BE", "US")
# A row of rising digits is taken for an invented number; the shortest that is published has eight.
RISING, RISING_LENGTH = "0123456789", 8
RISING_ROWS = tuple(RISING[start : start + RISING_LENGTH] for start in range(len(RISING) - RISING_LENGTH + 1))


def validate_pickup(violations: Violations, letter: Json) -> None:
    service, code = letter["service"], letter["parcel"].get("pickupLocationId", "")
    if service.get("productCode") not in tables.PICKUP_CODES:
        violations.require(not code, 30402, "pickupLocationId is for pickup products only")
        return
    violations.require(code, 30400)
    violations.require(service.get("commercialName"), 30018)
    if code:
        _validate_point(violations, letter, code)


def _validate_point(violations: Violations, letter: Json, code: str) -> None:
    point = point_of("beta", code) if re.fullmatch(r"\d{6}", code, re.ASCII) else None
    if point is None:
        violations.error(30401, "pickupLocationId")
        return
    violations.require(point.country == letter["addressee"]["address"].get("countryCode"), 30403)
    violations.require(type_of(point) in TAKEN[letter["service"]["productCode"]], 30402)
    violations.require(point.status == "full" or point.is_open, 30900)
    violations.require(letter["parcel"].get("weight", 0) <= point.max_weight_kg, 30901)
    violations.require(point.status != "full", 30902)


def misrouted_by(letter: Json) -> tuple[str, ...]:
    """Return the addressee's fields that are not the pickup point's own: the carrier prints them all the same."""
    point = point_of("beta", letter["parcel"].get("pickupLocationId", ""))
    return _differences(letter["addressee"]["address"], point) if point else ()


def _differences(address: Json, point: PickupPoint) -> tuple[str, ...]:
    pairs = {
        "companyName": (address.get("companyName", ""), point.name),
        "line2": (address.get("line2", "") + address.get("line3", ""), point.address1 + point.address2),
        "zipCode": (address.get("zipCode", ""), point.zip_code),
        "city": (address.get("city", ""), point.city),
        "countryCode": (address.get("countryCode", ""), point.country),
    }
    return tuple(name for name, (sent, own) in pairs.items() if folded(sent) != folded(own))


def validate_options(violations: Violations, letter: Json) -> None:
    violations.validate(letter["parcel"], tables.RULES["parcel"])
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


def validate_mobile(violations: Violations, address: Json, wrong: int) -> None:
    """Validate the form of an address's mobile number; `wrong` is its code for another one."""
    if mobile := address.get("mobileNumber"):
        forms = MOBILES.get(address.get("countryCode", ""), (FOREIGN_MOBILE,))
        violations.require(any(re.fullmatch(form, mobile, re.ASCII) for form in forms), wrong, "mobileNumber")
        violations.require(not any(row in mobile for row in RISING_ROWS), wrong, "mobileNumber, digits in a row")


def validate_addressees_mobile(violations: Violations, letter: Json) -> None:
    """Require the addressee's mobile number: at pickup points, in Belgium and the United States, and with `ddp`."""
    address = letter["addressee"]["address"]
    country, mobile = address.get("countryCode", ""), address.get("mobileNumber", "")
    is_pickup = letter["service"].get("productCode") in tables.PICKUP_CODES
    is_needed = is_pickup or country in ALWAYS_NEEDED or letter["parcel"].get("ddp", False)
    violations.require(mobile or not is_needed, NEEDED, "the addressee's mobileNumber")
    if mobile and is_pickup and country == "BE":
        violations.require(re.fullmatch(BELGIAN_MOBILE, mobile, re.ASCII), WRONG, "mobileNumber, not +324NNNNNNNN")
