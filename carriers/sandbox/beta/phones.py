"""Validates phone numbers: their forms by country, and the orders that need the addressee's mobile number."""

import re

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.errors import Violations
from carriers.sandbox.beta.json_request import Json

FRENCH_MOBILE = r"(0|\+330?)[67]\d{8}"
FOREIGN_MOBILE = r"\+[1-9]\d{8,13}"
BELGIAN_MOBILE = r"\+324\d{8}"  # of a parcel to a pickup point; to a home any number will do
MOBILES = {"FR": (FRENCH_MOBILE,), "MC": (FRENCH_MOBILE, FOREIGN_MOBILE)}
NEEDED, WRONG = 30220, 30221
ALWAYS_NEEDED = ("BE", "US")
# A row of rising digits is taken for an invented number; the shortest that is published has eight.
RISING, RISING_LENGTH = "0123456789", 8
RISING_ROWS = tuple(RISING[start : start + RISING_LENGTH] for start in range(len(RISING) - RISING_LENGTH + 1))


def validate_phones(violations: Violations, address: Json) -> None:
    """Validate the forms of an address's numbers."""
    if phone := address.get("phoneNumber"):
        violations.require(re.fullmatch(r"\+\d{1,14}|\d{1,15}", phone, re.ASCII), WRONG, "phoneNumber")
    if mobile := address.get("mobileNumber"):
        forms = MOBILES.get(address.get("countryCode", ""), (FOREIGN_MOBILE,))
        violations.require(any(re.fullmatch(form, mobile, re.ASCII) for form in forms), WRONG, "mobileNumber")
        violations.require(not any(row in mobile for row in RISING_ROWS), WRONG, "mobileNumber, digits in a row")


def validate_addressees_mobile(violations: Violations, letter: Json) -> None:
    """Require the addressee's mobile number: at pickup points, in Belgium and the United States, and with `ddp`."""
    address = letter["addressee"]["address"]
    country, mobile = address.get("countryCode", ""), address.get("mobileNumber", "")
    is_pickup = letter["service"].get("productCode") in tables.PICKUP_CODES
    is_needed = is_pickup or country in ALWAYS_NEEDED or letter["parcel"].get("ddp", False)
    violations.require(mobile or not is_needed, NEEDED, "the addressee's mobileNumber")
    if mobile and is_pickup and country == "BE":
        violations.require(re.fullmatch(BELGIAN_MOBILE, mobile, re.ASCII), WRONG, "mobileNumber, not +324NNNNNNNN")
