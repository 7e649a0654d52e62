"""alpha's parties: the account, and the structures for sender and recipient in the schema's order."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from carriers.errors import AddressRejected, CredentialsRejected, PickupPointRejected, RequestRejected
from carriers.pickup_points import FIELD
from carriers.shipment import Credentials, CredentialsShape, Party, PickupPoint
from carriers.text import CarrierField, fitting, joined, present, required, to_ascii, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, is_mobile, phone_spaced

SHAPE: Final = CredentialsShape(
    re.compile(r"[0-9]{8}"),
    re.compile(r"[0-9]{6}"),
    "an account number of 8 digits and a password of 6 digits",
    takes_api_key=False,
    takes_parent=False,
)
CARRIER: Final = "alpha"
CIVILITY: Final = "M"  # an empty one fails, and the sender's is unknown
NOTIFY_RECIPIENT: Final = "22"  # by e-mail
NOTIFY_NOBODY: Final = "0"
PROFESSIONAL: Final = "1"
PRIVATE: Final = "2"
NAME_LENGTH: Final = 100
LINE_LENGTH: Final = 38
LINES: Final = 2
ZIP_LENGTH: Final = 9
CITY_LENGTH: Final = 50
PHONE_LENGTH: Final = 17
# The schema's sequence, of which each structure has a part.
_ORDER: Final = (
    *("Adress1", "Adress2", "City", "Civility", "ContactName", "Country", "Email", "MobilePhone"),
    *("Name", "Name2", "Phone", "PreAlert", "ZipCode", "Type"),
)
Fields = Iterable[tuple[str, str]]
Values = Mapping[str, str]


def contract(credentials: Credentials) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return what a body says of the contract.

    Refuses credentials that the service answers with a SOAP fault, which looks like an outage.
    """
    if not SHAPE.account_number.fullmatch(credentials.account_number):
        raise CredentialsRejected(CARRIER, "an account number has 8 digits")
    if not SHAPE.password.fullmatch(credentials.password):
        raise CredentialsRejected(CARRIER, "a password has 6 digits")
    return (("accountNumber", credentials.account_number), ("password", credentials.password))


def sender(party: Party) -> Values:
    """Return the sender's values; raises Rejected for one that cannot be printed."""
    return _values(party, SENDER) | {"Civility": CIVILITY}


def recipient(party: Party) -> Fields:
    """Return a recipient's fields; raises Rejected for one that cannot be printed."""
    values = _values(party, RECIPIENT)
    return in_order("recipient", values | {"Type": PROFESSIONAL if "Name2" in values else PRIVATE})


def _values(party: Party, path: str) -> dict[str, str]:
    parts = all_of(lambda: _names(party, path), lambda: _address(party, path), lambda: _contact(party, path))
    return {name: value for part in parts for name, value in part.items()} | {"PreAlert": NOTIFY_NOBODY}


def recipient_at(point: PickupPoint | None, party: Party, *, is_phone_required: bool, is_relay_europe: bool) -> Fields:
    """Return the fields of a recipient at a relay, under the relay's own name and address.

    The label's sort code is made from them. The customer's own address is not sent. A mobile goes into both fields.
    """
    person, contact = all_of(
        lambda: dict.fromkeys(("Name2", "ContactName"), _person(party, RECIPIENT)),
        lambda: _contact(party, RECIPIENT, is_phone_required=is_phone_required, is_relay_europe=is_relay_europe),
    )
    place = place_of(point) if point else {}
    extra = {
        "Phone": contact.get("MobilePhone") or contact["Phone"],
        "PreAlert": NOTIFY_RECIPIENT if party.email else NOTIFY_NOBODY,
        "Type": PRIVATE,
    }
    return in_order("recipient", {**place, **person, **contact, **extra})


def in_order(prefix: str, values: Values) -> Fields:
    """Return the fields of a structure whose names begin so."""
    return [(prefix + name, values[name]) for name in _ORDER if name in values]


def place_of(point: PickupPoint) -> Values:
    """Return a relay's name and address; raises PickupPointRejected for one that cannot be printed."""
    field = CarrierField(CARRIER, FIELD, NAME_LENGTH)
    place = Party(
        first_name="",
        last_name="",
        address1=point.address1,
        address2=point.address2 or point.address3,
        zip_code=point.zip_code,
        city=point.city,
        country_code=point.country_code,
    )
    try:
        return {"Name": required(to_ascii(point.name), field), **_address(place, RECIPIENT)}
    except AddressRejected as error:
        problem = "has a name or an address that cannot be printed; let the customer choose another one"
        raise PickupPointRejected(CARRIER, problem, field=FIELD) from error


def _person(party: Party, path: str) -> str:
    """Return first and last name in one; if they are too long together, the error names the longer one."""
    first, last = to_ascii(party.first_name), to_ascii(party.last_name)
    name, person = "firstName" if len(first) > len(last) else "lastName", f"{first} {last}".strip()
    field = CarrierField(CARRIER, f"{path}.{name}", NAME_LENGTH)
    if len(person) > NAME_LENGTH:
        raise field.error(f"is, with the other name, longer than the {NAME_LENGTH} characters that {CARRIER} prints")
    return required(person, field)


def _names(party: Party, path: str) -> Values:
    """Return the company, if there is one, then the person, who is also the contact."""
    field = CarrierField(CARRIER, f"{path}.company", NAME_LENGTH)
    person, company = all_of(lambda: _person(party, path), lambda: fitting(to_ascii(party.company), field))
    names = {"Name": company, "Name2": person} if company else {"Name": person}
    return names | {"ContactName": person}


def _address(party: Party, path: str) -> Values:
    city_field = CarrierField(CARRIER, f"{path}.city", CITY_LENGTH)
    (first, second), zip_code, city = all_of(
        lambda: _lines(party, path),
        lambda: required(zip_code_of(party), CarrierField(CARRIER, f"{path}.zip", ZIP_LENGTH)),
        lambda: required(to_ascii(party.city), city_field),
    )
    return {"Adress1": first, "Adress2": second, "ZipCode": zip_code, "City": city, "Country": party.country_code}


def zip_code_of(party: Party) -> str:
    """Return the postal code: an American one that is too long, such as `10001-1234`, without its last part.

    An Irish one has a space, however it is written.
    """
    zip_code = to_ascii(party.zip_code)
    if party.country_code == "IE":
        zip_code = zip_code.replace("-", " ")
    if party.country_code == "US" and len(zip_code) > ZIP_LENGTH:
        zip_code = re.split("[ -]", zip_code)[0]
    return zip_code


def _lines(party: Party, path: str) -> tuple[str, str]:
    """Return the street and the second line; a longer street runs on in the second, before what is given there."""
    field = CarrierField(CARRIER, f"{path}.address2", LINE_LENGTH)
    street_field = CarrierField(CARRIER, f"{path}.address1", LINE_LENGTH)
    (first, *rest), more = all_of(
        lambda: wrapped(present(to_ascii(party.address1), street_field), street_field, LINES),
        lambda: fitting(to_ascii(party.address2), field),
    )
    return first, joined("".join(rest), more, field, "the street leaves of the second line")


def _contact(party: Party, path: str, *, is_phone_required: bool = False, is_relay_europe: bool = False) -> Values:
    """Return the e-mail address and the phone number: a mobile in the mobile's field, any other or none in the phone's.

    It is E.164, of Relais Europe `+<country> <number>`. Relays abroad require one.
    """
    field = CarrierField(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    phone = phone_spaced(party.phone) if party.phone and is_relay_europe else party.phone
    if party.phone and not phone:
        raise field.error("is not a number of any country")
    if is_phone_required and not phone:
        raise field.error("is required by the product")
    return {"Email": party.email, "MobilePhone" if is_mobile(party.phone) else "Phone": fitting(phone, field)}
