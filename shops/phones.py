"""Phone numbers in any written form, read in a country."""

import re
import unicodedata
from collections.abc import Iterator

import phonenumbers

# The countries whose numbers are most often found in an address of another.
NEIGHBOURS = ("FR", "BE", "CH", "DE", "ES", "GB", "IT", "LU", "NL")
SEPARATORS = {"Zs", "Zl", "Zp", "Pd", "Cf", "Cc"}
OTHER_DASHES = "\u02d7\u2027\u2043"  # dashes in other Unicode categories; phonenumbers knows the minus sign
E164_DIGITS = re.compile(r"\+[0-9]{5,15}")


def e164(text: str, country_code: str) -> str:
    """Read a phone number as it is written in a country, and return it as E.164; raise ValueError."""
    try:
        number = phonenumbers.parse(plain(text), country_code)
    except phonenumbers.NumberParseException:
        raise ValueError("not a phone number") from None
    is_possible = phonenumbers.is_possible_number_with_reason(number) == phonenumbers.ValidationResult.IS_POSSIBLE
    # A leading 0 that remains, where complete numbers have none, is a trunk prefix: the number is a digit short.
    is_cut = number.italian_leading_zero and not phonenumbers.is_valid_number(number)
    formatted = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    if not is_possible or is_cut or not E164_DIGITS.fullmatch(formatted):
        raise ValueError("not a phone number")
    return formatted


def advice(text: str, country_code: str) -> str:
    """Tell how to write a text that `e164` refuses, where it is the number of another country; "" where it is none."""
    if fits(f"+{plain(text)}", None):
        return "Write a + in front of the country code."
    found = [f"{code} (+{phonenumbers.country_code_for_region(code)})" for code in neighbours(text, country_code)]
    return f"If it is one of {' or '.join(found)}, write it with the country code." if found else ""


def neighbours(text: str, country_code: str) -> Iterator[str]:
    return (code for code in NEIGHBOURS if code != country_code and fits(plain(text), code))


def fits(text: str, country_code: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(text, country_code))
    except phonenumbers.NumberParseException:
        return False


def plain(text: str) -> str:
    """Write spaces for any kind of space, dash or invisible character."""
    return "".join(" " if is_separator(char) else char for char in text)


def is_separator(char: str) -> bool:
    return unicodedata.category(char) in SEPARATORS or char in OTHER_DASHES
