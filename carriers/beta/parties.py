"""beta's parties: the account in its calls, and the addresses of sender, recipient and, in its place, pickup point."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from anyascii import anyascii

from carriers.errors import CarrierError, CredentialsRejected, RequestRejected
from carriers.shipment import Credentials, CredentialsShape, Party, PickupPoint
from carriers.text import CarrierField, fitting, joined, present, required, to_latin, visible, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, is_french_mobile, is_mobile, is_number_in_use

CARRIER: Final = "beta"
FIRST_NAME_LENGTH: Final = 29
LINE_LENGTH: Final = 35  # every other text
STREET_LINES: Final = 2  # line2 and line3
LEFT: Final = "are left beside address1"
PHONE_LENGTH: Final = 15

# Of an addressee there, only line2 is sure to be printed.
ONE_LINE: Final = frozenset({"BE", "CH"})
WITH_PROVINCES: Final = frozenset({"CA", "US"})
POSTAL_CODE_OF: Final = {"AE": "00000"}  # countries without postal codes
# There any number goes into the mobile's field.
MOBILE_ONLY: Final = frozenset({"BE", "US"})
NOT_KNOWN: Final = "-"
SHORTEST_MOBILE: Final = 10  # of its field; some countries have shorter numbers
HEADERS: Final = {"Content-Type": "application/json"}
SHAPE: Final = CredentialsShape(
    re.compile(r"[A-Za-z0-9]{1,64}"),
    re.compile(r"[!-~]{1,200}"),
    "a contract number of letters and digits, and a password or an API key of printable ASCII without spaces",
    takes_api_key=True,
    takes_parent=True,
)
Address = dict[str, Any]
Check = Callable[[str, CarrierField], str]
_HEADER_VALUE: Final = re.compile(r"[!-~]+")
_BELGIAN_MOBILE: Final = re.compile(r"\+324[0-9]{8}")
_LUXEMBOURG: Final = re.compile(r"^LU?\W*", re.IGNORECASE)


def check_credentials(credentials: Credentials) -> None:
    """Refuse credentials that cannot be sent, so that they do not look like a failure of the carrier."""
    if credentials.api_key and not _HEADER_VALUE.fullmatch(credentials.api_key):
        raise CredentialsRejected(CARRIER, "an API key is of printable ASCII")
    if not credentials.api_key and not (credentials.account_number and credentials.password):
        raise CredentialsRejected(CARRIER, "a contract number with its password, or an API key, is needed")


def contract(credentials: Credentials) -> dict[str, str]:
    """Return what a body of the label service says of the contract; an API key is a header instead."""
    if credentials.api_key:
        return {}
    return {"contractNumber": credentials.account_number, "password": credentials.password}


def login(credentials: Credentials, name: str = "login") -> dict[str, str]:
    """Return what a body of the other services says of the contract; `name` is what they call its number."""
    if credentials.api_key:
        return {"apiKey": credentials.api_key}
    return {name: credentials.account_number, "password": credentials.password}


def own_number(credentials: Credentials, name: str = "ACCOUNT_NUMBER") -> dict[str, str]:
    """Return the account's number, by the name that a call has for it, if it is said beside the credentials.

    Accounts of the newer kind and those under a parent are refused without it; a contract number is one already.
    """
    is_said = credentials.account_number and (credentials.api_key or credentials.parent_account_number)
    return {name: credentials.account_number} if is_said else {}


def field_list(fields: Mapping[str, str]) -> dict[str, object]:
    """Return key-value fields as a body has them; without any it has no such block."""
    pairs = [{"key": key, "value": value} for key, value in fields.items()]
    return {"fields": {"field": pairs}} if pairs else {}


def _numbers(party: Party, path: str, reason: str, *, is_notice: bool) -> Mapping[str, str]:
    """Return the number in the field of its kind; `reason` is why a mobile one is required, if it is.

    Where `is_notice`, a message has to reach it. Raises the field's error.
    """
    field = CarrierField(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    phone, is_only = party.phone, party.country_code in MOBILE_ONLY
    if len(phone) > PHONE_LENGTH:
        raise field.error(f"is longer than the {PHONE_LENGTH} characters that {CARRIER} takes")
    # At a French address only French mobiles count as mobile.
    is_of_kind = is_french_mobile if party.country_code == "FR" else is_mobile
    is_in_mobiles = len(phone) >= SHORTEST_MOBILE and (is_only or is_of_kind(phone))
    if reason and not is_in_mobiles:
        raise field.error(f"a {'phone' if is_only else 'mobile'} number is required {reason}")
    if is_notice and party.country_code == "BE" and not _BELGIAN_MOBILE.fullmatch(phone):
        raise field.error(f"a Belgian mobile number (+324 and 8 digits) is required {reason}")
    if is_notice and not is_number_in_use(phone):
        raise field.error(f"a number that is in use is required {reason}")
    return {"mobileNumber" if is_in_mobiles else "phoneNumber": phone}


def sender(party: Party) -> Address:
    """Return the sender's address; raises Rejected for one that cannot be printed."""
    return _address(party, SENDER)


def recipient(party: Party, *, is_at_point: bool = False, is_duty_paid: bool = False) -> Address:
    """Return the addressee's address; raises Rejected for one that cannot be printed or lacks a phone number."""
    # A notice alone tells of a parcel at a pickup point, or of duties.
    notice = "at a pickup point" if is_at_point else "when the sender pays the duties" if is_duty_paid else ""
    reason = notice or (f"for {party.country_code}" if party.country_code in MOBILE_ONLY else "")
    return _address(party, RECIPIENT, reason, is_notice=bool(notice) or party.country_code == "US")


def at_point(party: Party, point: PickupPoint) -> Party:
    """Return the recipient at the pickup point: its name as the company and its address; the rest is the customer's.

    The point's texts are the carrier's own, so one that is too long is cut, as the carrier does, its address only where
    it cannot be wrapped or joined.
    """
    placed = replace(
        party,
        company=_cut(_shown(point.name)),
        address1=_shown(point.address1 or point.address2 or point.name),
        address2=_shown(point.address2) if point.address1 else "",
        zip_code=_cut(_shown(point.zip_code)),
        city=_cut(_shown(point.city)),
        country_code=point.country_code,
    )
    try:
        _lines(placed, RECIPIENT)
    except CarrierError:
        line3 = "" if point.country_code in ONE_LINE else _cut(placed.address2)
        return replace(placed, address1=_cut(placed.address1), address2=line3)
    return placed


def before_look_up(party: Party) -> Party:
    """Return the recipient as at a point whose address is not known yet: only what is the customer's is validated."""
    return replace(party, company=NOT_KNOWN, address1=NOT_KNOWN, address2="", city=NOT_KNOWN)


def _shown(text: str) -> str:
    field = CarrierField(CARRIER, "pickupPointCode", LINE_LENGTH)
    try:
        return to_latin(text, field)
    except CarrierError:
        spelled = "".join(anyascii(char) if char.isalnum() else char if char.isascii() else " " for char in text)
        return " ".join(spelled.split())


def _cut(text: str) -> str:
    return text[:LINE_LENGTH].rstrip()


def _address(party: Party, path: str, reason: str = "", *, is_notice: bool = False) -> Address:
    """Return an address without its empty fields."""
    parts = all_of(
        lambda: {"companyName": _text(party.company, f"{path}.company")},
        lambda: {"lastName": _text(party.last_name, f"{path}.lastName")},
        lambda: {"firstName": _text(party.first_name, f"{path}.firstName", FIRST_NAME_LENGTH)},
        lambda: _lines(party, path),
        lambda: {"countryCode": party.country_code},
        lambda: {"city": _text(party.city, f"{path}.city", check=required)},
        lambda: {"zipCode": _text(zip_code_of(party), f"{path}.zip", check=required)},
        lambda: {"stateOrProvinceCode": party.province_code if party.country_code in WITH_PROVINCES else ""},
        lambda: _numbers(party, path, reason, is_notice=is_notice),
        lambda: {"email": party.email},
    )
    texts = {name: value for part in parts for name, value in part.items()}
    if not texts["companyName"] and not (texts["lastName"] and texts["firstName"]):
        raise CarrierField(CARRIER, f"{path}.lastName", LINE_LENGTH).error("and firstName, or company, are required")
    return {name: value for name, value in texts.items() if value}


def _text(value: str, path: str, length: int = LINE_LENGTH, check: Check = fitting) -> str:
    field = CarrierField(CARRIER, path, length)
    return check(to_latin(value, field), field)


def _lines(party: Party, path: str) -> Mapping[str, str]:
    """Return the street on line2 and the second address line on line3, or on line2 where no other is printed.

    A street that is too long is wrapped into line3.
    """
    first, second = (CarrierField(CARRIER, f"{path}.{name}", LINE_LENGTH) for name in ("address1", "address2"))
    street, more = all_of(
        lambda: present(to_latin(party.address1, first), first),
        lambda: fitting(to_latin(party.address2, second), second),
    )
    if path == RECIPIENT and party.country_code in ONE_LINE:
        return {"line2": joined(fitting(street, first), more, second, LEFT)}
    if len(street) <= LINE_LENGTH:
        return {"line2": street, "line3": more}
    line2, line3 = wrapped(street, first, STREET_LINES)
    return {"line2": line2, "line3": joined(line3, more, second, LEFT)}


def zip_code_of(party: Party) -> str:
    """Return the postal code in beta's form: LU without its letters, US only what stands before a dash of any kind."""
    zip_code = POSTAL_CODE_OF.get(party.country_code, visible(party.zip_code))
    if party.country_code == "LU":
        return _LUXEMBOURG.sub("", zip_code)
    return re.split(r"\W", zip_code)[0] if party.country_code == "US" else zip_code
