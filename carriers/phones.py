"""Phone numbers: mobiles and numbers in use told from others, and the country's number set apart."""

from typing import Final

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberType

# The prefixes that beta accepts for a French mobile, including ranges that are not yet in use.
_FRENCH_MOBILES: Final = ("+336", "+337")
# In some countries mobile and fixed numbers look alike; there a number is taken for a mobile.
_MOBILE_TYPES: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)


def is_french_mobile(e164: str) -> bool:
    """Return true if an E.164 number is a French mobile."""
    return e164.startswith(_FRENCH_MOBILES)


def is_mobile(e164: str) -> bool:
    """Return true if an E.164 number can receive text messages."""
    if is_french_mobile(e164):
        return True
    number = _parsed(e164)
    return number is not None and phonenumbers.number_type(number) in _MOBILE_TYPES


def spaced(e164: str) -> str:
    """Return an E.164 number with a space after the country's number, empty if no country has it."""
    number = _parsed(e164)
    return f"+{number.country_code} {e164.removeprefix(f'+{number.country_code}')}" if number else ""


def is_valid(e164: str) -> bool:
    """Return true if an E.164 number is of a range that is in use."""
    number = _parsed(e164)
    return number is not None and phonenumbers.is_valid_number(number)


def _parsed(e164: str) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(e164)
    except phonenumbers.NumberParseException:
        return None
