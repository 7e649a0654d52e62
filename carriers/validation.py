"""Validation of a shipment before it is sent, phone numbers included; the errors name the API's fields."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberType

from carriers.errors import Rejected, RequestRejected
from carriers.shipment import Shipment
from carriers.text import CarrierField, fitting

SENDER: Final = "originAddress"
RECIPIENT: Final = "destinationAddress"

# The prefixes that beta accepts for a French mobile, including ranges that are not yet in use.
_FRENCH_MOBILES: Final = ("+336", "+337")
# In some countries mobile and fixed numbers look alike; there a number is taken for a mobile.
_MOBILE_TYPES: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)


def all_of(*makers: Callable[[], Any]) -> list[Any]:
    """Return the result of each; if some raise Rejected, raise the first error with the others.

    Several parcels may be refused for one field of the order: it is named once.
    """
    made: list[Any] = []
    refusals: dict[str, Rejected] = {}
    for make in makers:
        try:
            made.append(make())
        except Rejected as error:
            for each in error.each:
                refusals.setdefault(str(each), each)
    if refusals:
        first, *others = refusals.values()
        raise first.with_others(others)
    return made


def references_of(
    carrier: str, shipment: Shipment, max_length: int, spell: Callable[[str, CarrierField], str]
) -> list[str]:
    """Return the text that is printed on each parcel, its own or else the shipment's, as the carrier spells it."""

    def printed(index: int, own: str) -> str:
        path = f"parcels[{index}].reference" if own else "reference"
        field = CarrierField(carrier, path, max_length, RequestRejected)
        return fitting(spell(own or shipment.reference, field), field)

    return all_of(*(partial(printed, index, package.reference) for index, package in enumerate(shipment.packages)))


def is_french_mobile(e164: str) -> bool:
    return e164.startswith(_FRENCH_MOBILES)


def is_mobile(e164: str) -> bool:
    """Return whether an E.164 number can receive text messages."""
    if is_french_mobile(e164):
        return True
    number = _parsed(e164)
    return number is not None and phonenumbers.number_type(number) in _MOBILE_TYPES


def phone_spaced(e164: str) -> str:
    """Return an E.164 number with a space after the country's number, empty if no country has it."""
    number = _parsed(e164)
    return f"+{number.country_code} {e164.removeprefix(f'+{number.country_code}')}" if number else ""


def is_number_in_use(e164: str) -> bool:
    number = _parsed(e164)
    return number is not None and phonenumbers.is_valid_number(number)


def _parsed(e164: str) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(e164)
    except phonenumbers.NumberParseException:
        return None
