"""beta's addresses: the sender's, the recipient's, and the pickup point's in the recipient's place."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from anyascii import anyascii

from carriers import phones
from carriers.errors import CarrierError, RequestRejected
from carriers.shipment import Party, PickupPoint
from carriers.text import CarrierField, fitting, required, to_latin, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, email_of, phone_of

CARRIER: Final = "beta"
FIRST_NAME_LENGTH: Final = 29
LINE_LENGTH: Final = 35  # every other text
STREET_LINES: Final = 2  # line2 and line3
OTHER_LINES: Final = 2  # line0 and line1
PROVINCE_LENGTH: Final = 2
PHONE_LENGTH: Final = 15
EMAIL_LENGTH: Final = 80

# Of an addressee there, only line2 is sure to be printed.
ONE_LINE: Final = frozenset({"BE", "CH"})
# There any number goes into the mobile's field.
MOBILE_ONLY: Final = frozenset({"BE", "US"})
WITH_PROVINCES: Final = frozenset({"CA", "US"})

Address = dict[str, Any]
_LUXEMBOURG: Final = re.compile(r"^LU?[- ]*", re.IGNORECASE)


def sender(party: Party) -> Address:
    """Return the sender's address; raises Rejected for one that cannot be printed."""
    return _address(party, SENDER)


def recipient(party: Party, *, is_mobile_required: bool) -> Address:
    """Return the addressee's address; raises Rejected for one that cannot be printed."""
    return _address(party, RECIPIENT, is_mobile_required=is_mobile_required)


def at_point(party: Party, point: PickupPoint) -> Party:
    """Return the recipient at the pickup point: its name as the company and its address; the rest is the customer's.

    The point's texts are the carrier's own, so one that is too long is cut, as the carrier does.
    """
    address1 = _shown(point.address1 or point.address2 or point.name)
    address2 = _shown(point.address2) if point.address1 else ""
    if point.country_code in ONE_LINE:
        joined = f"{address1} {address2}".strip()
        address1, address2 = (joined if len(joined) <= LINE_LENGTH else address1), ""
    return replace(
        party,
        company=_shown(point.name),
        address1=address1,
        address2=address2,
        zip_code=_shown(point.zip_code),
        city=_shown(point.city),
        country_code=point.country_code,
    )


def _shown(text: str) -> str:
    field = CarrierField(CARRIER, "pickupPointCode", LINE_LENGTH)
    try:
        return to_latin(text, field)[:LINE_LENGTH].rstrip()
    except CarrierError:
        spelled = "".join(anyascii(char) if char.isalnum() else char if char.isascii() else " " for char in text)
        return " ".join(spelled.split())[:LINE_LENGTH].rstrip()


def _address(party: Party, path: str, *, is_mobile_required: bool = False) -> Address:
    """Return an address without its empty fields."""
    parts: list[Mapping[str, str]] = all_of(
        lambda: {"companyName": _text(party.company, f"{path}.company")},
        lambda: {"lastName": _text(party.last_name, f"{path}.lastName")},
        lambda: {"firstName": _text(party.first_name, f"{path}.firstName", FIRST_NAME_LENGTH)},
        lambda: _lines(party, path),
        lambda: {"countryCode": party.country_code},
        lambda: {"city": _required(party.city, f"{path}.city")},
        lambda: {"zipCode": _required(zip_code_of(party), f"{path}.zip")},
        lambda: {"stateOrProvinceCode": _province(party, path)},
        lambda: _phone(party, path, is_mobile_required=is_mobile_required),
        lambda: {"email": email_of(party, CarrierField(CARRIER, f"{path}.email", EMAIL_LENGTH, RequestRejected))},
    )
    texts = {name: value for part in parts for name, value in part.items()}
    if not texts["companyName"] and not (texts["lastName"] and texts["firstName"]):
        raise CarrierField(CARRIER, f"{path}.lastName", LINE_LENGTH).error("and firstName, or company, are required")
    return {name: value for name, value in texts.items() if value}


def _text(value: str, path: str, max_length: int = LINE_LENGTH) -> str:
    field = CarrierField(CARRIER, path, max_length)
    return fitting(to_latin(value, field), field)


def _required(value: str, path: str) -> str:
    field = CarrierField(CARRIER, path, LINE_LENGTH)
    return required(to_latin(value, field), field)


def _lines(party: Party, path: str) -> Mapping[str, str]:
    """Return the street on line2, wrapped into line3; the second address line on line3, or above if that is taken.

    The carrier prints line0 (floor) and line1 (building) above line2 (number and street).
    """
    fields = [CarrierField(CARRIER, f"{path}.{name}", LINE_LENGTH) for name in ("address1", "address2")]
    if path == RECIPIENT and party.country_code in ONE_LINE:
        return {"line2": _one_line(party, *fields)}
    street = wrapped(to_latin(party.address1, fields[0]), fields[0], STREET_LINES)
    if not street:
        raise fields[0].error("has no text that beta can print")
    more = wrapped(to_latin(party.address2, fields[1]), fields[1], OTHER_LINES)
    if len(street) + len(more) <= STREET_LINES:
        return dict(zip(("line2", "line3"), street + more, strict=False))
    names = ("line0", "line1")[-len(more) :] if more else ()
    return dict(zip((*names, "line2", "line3"), more + street, strict=False))


def _one_line(party: Party, first: CarrierField, second: CarrierField) -> str:
    street = required(to_latin(party.address1, first), first)
    line = f"{street} {to_latin(party.address2, second)}".strip()
    if len(line) > LINE_LENGTH:
        problem = f"and address1 are together longer than the {LINE_LENGTH} characters that beta prints"
        raise second.error(f"{problem} in {party.country_code}")
    return line


def zip_code_of(party: Party) -> str:
    """Return the postal code in beta's form: LU without its letters, US only what stands before the dash."""
    zip_code = party.zip_code.strip()
    if party.country_code == "LU":
        return _LUXEMBOURG.sub("", zip_code)
    return zip_code.partition("-")[0].rstrip() if party.country_code == "US" else zip_code


def _province(party: Party, path: str) -> str:
    if party.country_code not in WITH_PROVINCES:
        return ""
    field = CarrierField(CARRIER, f"{path}.provinceCode", PROVINCE_LENGTH, RequestRejected)
    return fitting(to_latin(party.province_code, field).upper(), field)


def _phone(party: Party, path: str, *, is_mobile_required: bool) -> Mapping[str, str]:
    """Return the number in the field of its kind; at a French address only French mobiles count as mobile."""
    field = CarrierField(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    phone = phone_of(party, field)
    is_mobile = bool(phone) and _is_mobile(phone, party.country_code)
    if is_mobile_required and not is_mobile:
        raise field.error("the product requires a mobile number")
    return {"mobileNumber" if is_mobile else "phoneNumber": phone}


def _is_mobile(phone: str, country_code: str) -> bool:
    if country_code in MOBILE_ONLY:
        return True
    return phones.is_french_mobile(phone) if country_code == "FR" else phones.is_mobile(phone)
