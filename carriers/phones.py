"""Which kind of telephone a number belongs to."""

from typing import Final

import phonenumbers
from phonenumbers import PhoneNumberType

# What beta takes for a French mobile, ranges not yet given out included.
_FRENCH_MOBILES: Final = ("+336", "+337")
# Some countries' numbers do not show their kind; there a mobile is what a person gives.
_MOBILE_TYPES: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)


def is_french_mobile(e164: str) -> bool:
    """Whether a number, written as E.164, is a mobile of France."""
    return e164.startswith(_FRENCH_MOBILES)


def is_mobile(e164: str) -> bool:
    """Whether a number, written as E.164, can take a text message."""
    if is_french_mobile(e164):
        return True
    try:
        number = phonenumbers.parse(e164)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.number_type(number) in _MOBILE_TYPES
