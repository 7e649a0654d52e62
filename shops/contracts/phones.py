"""Phone numbers in any written form, read in a country; in the French overseas territories also as French ones."""

import re
import unicodedata
from functools import lru_cache

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat

FRANCE = "FR"
# Where many write a French number as in France. TF has nobody who does, and no numbers of its own.
FRENCH_OVERSEAS = frozenset("BL GF GP MF MQ NC PF PM RE WF YT".split())
SEPARATORS = {"Zs", "Zl", "Zp", "Pd", "Cf", "Cc"}
OTHER_DASHES = "\u02d7\u2027\u2043"  # dashes in other Unicode categories; phonenumbers knows the minus sign
E164_DIGITS = re.compile(r"\+[0-9]{5,15}")


@lru_cache(maxsize=16)  # each of an order's is read to be judged, and again to be kept
def e164(text: str, country_code: str) -> str:
    """Read a phone number as it is written in a country, and return it as E.164; raise ValueError.

    A possible number that no country assigns is taken, as ranges are opened now and then. One that only France assigns
    is read as French overseas, where many write it so, and refused elsewhere.
    """
    number = parsed(text, country_code)
    if not (number and phonenumbers.is_valid_number(number)) and (french := valid(text, FRANCE)):
        if country_code not in FRENCH_OVERSEAS:
            raise ValueError("a French number")
        number = french
    if number is None or not is_possible(number):
        raise ValueError("not a phone number")
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def is_of_nobody(text: str, country_code: str) -> bool:
    """Return whether `e164` reads a phone number that no country assigns."""
    try:
        return not valid(e164(text, country_code), None)
    except ValueError:
        return False


def is_possible(number: PhoneNumber) -> bool:
    reason = phonenumbers.is_possible_number_with_reason(number)
    # A leading 0 that remains, where complete numbers have none, is a trunk prefix: the number is a digit short.
    is_cut = number.italian_leading_zero and not phonenumbers.is_valid_number(number)
    has_digits = E164_DIGITS.fullmatch(phonenumbers.format_number(number, PhoneNumberFormat.E164))
    return reason == phonenumbers.ValidationResult.IS_POSSIBLE and not is_cut and bool(has_digits)


def advice(text: str, country_code: str) -> str:
    """Return how to write a text that `e164` refuses, where that is known; "" where it is not."""
    if country_code != FRANCE and (french := valid(text, FRANCE)):
        international = phonenumbers.format_number(french, PhoneNumberFormat.INTERNATIONAL)
        return f"Write {international} if it is French."
    return "Write a + in front of the country code." if valid(f"+{text}", None) else ""


def valid(text: str, country_code: str | None) -> PhoneNumber | None:
    """Return the number that a text is, if a country assigns it."""
    number = parsed(text, country_code)
    return number if number and phonenumbers.is_valid_number(number) else None


def parsed(text: str, country_code: str | None) -> PhoneNumber | None:
    """Read a number, with spaces for any kind of space, dash or invisible character; None where it is none."""
    plain = [" " if unicodedata.category(char) in SEPARATORS or char in OTHER_DASHES else char for char in text]
    try:
        return phonenumbers.parse("".join(plain), country_code)
    except phonenumbers.NumberParseException:
        return None
