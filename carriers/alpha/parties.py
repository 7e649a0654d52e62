"""alpha's structures for the sender and the recipient, in the schema's order."""

from collections.abc import Iterable, Mapping
from typing import Final

from carriers import phones
from carriers.errors import AddressRejected, PickupPointRejected, RequestRejected
from carriers.pickup_points import FIELD
from carriers.shipment import Party, PickupPoint
from carriers.text import CarrierField, fitting, required, to_ascii, wrapped
from carriers.validation import RECIPIENT, SENDER, all_of, email_of, phone_of

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
EMAIL_LENGTH: Final = 80
PHONE_LENGTH: Final = 17

# The schema's sequence, of which each structure has a part.
_ORDER: Final = (
    *("Adress1", "Adress2", "City", "Civility", "ContactName", "Country", "Email", "MobilePhone"),
    *("Name", "Name2", "Phone", "PreAlert", "ZipCode", "Type"),
)

Fields = Iterable[tuple[str, str]]
Values = Mapping[str, str]


def sender(party: Party, prefix: str, extra: Values) -> Fields:
    """Return the sender's fields; raises Rejected for one that cannot be printed."""
    names, address, contact = all_of(
        lambda: _names(party, SENDER), lambda: _address(party, SENDER), lambda: _contact(party, SENDER)
    )
    person = {"Civility": CIVILITY, "ContactName": _person(party, SENDER), "PreAlert": NOTIFY_NOBODY}
    return _in_order(prefix, {**names, **address, **contact, **person, **extra})


def recipient(party: Party, point: PickupPoint | None, *, is_relay: bool, is_phone_required: bool) -> Fields:
    """Return the recipient's fields; at a relay those of the place are the relay's own.

    The label's sort code is made from them.
    """
    names, address, contact = all_of(
        lambda: _names(party, RECIPIENT),
        lambda: _address(party, RECIPIENT),
        lambda: _contact(party, RECIPIENT, is_phone_required=is_phone_required),
    )
    person = _person(party, RECIPIENT)
    if point:
        names, address = {"Name2": person}, _place(point)
    is_private = is_relay or not party.company
    extra = {
        "ContactName": person,
        "PreAlert": NOTIFY_RECIPIENT if is_relay and party.email else NOTIFY_NOBODY,
        "Type": PRIVATE if is_private else PROFESSIONAL,
    }
    return _in_order("recipient", {**names, **address, **contact, **extra})


def _in_order(prefix: str, values: Values) -> Fields:
    return ((prefix + name, values[name]) for name in _ORDER if name in values)


def _place(point: PickupPoint) -> Values:
    """Return a relay's name and address."""
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
        return {"Name": required(to_ascii(point.name, field), field), **_address(place, RECIPIENT)}
    except AddressRejected as error:
        problem = "has a name or an address that cannot be printed; let the customer choose another one"
        raise PickupPointRejected(CARRIER, problem, field=FIELD) from error


def _person(party: Party, path: str) -> str:
    """Return first and last name in one; if they are too long together, the error names the longer one."""
    fields = [CarrierField(CARRIER, f"{path}.{name}", NAME_LENGTH) for name in ("firstName", "lastName")]
    first, last = all_of(lambda: to_ascii(party.first_name, fields[0]), lambda: to_ascii(party.last_name, fields[1]))
    field = fields[0] if len(first) > len(last) else fields[1]
    person = f"{first} {last}".strip()
    if len(person) > NAME_LENGTH:
        raise field.error(f"is, with the other name, longer than the {NAME_LENGTH} characters that {CARRIER} prints")
    return required(person, field)


def _names(party: Party, path: str) -> Values:
    """Return the company, if there is one, then the person."""
    person = _person(party, path)
    field = CarrierField(CARRIER, f"{path}.company", NAME_LENGTH)
    company = fitting(to_ascii(party.company, field), field)
    return {"Name": company, "Name2": person} if company else {"Name": person}


def _address(party: Party, path: str) -> Values:
    zip_field = CarrierField(CARRIER, f"{path}.zip", ZIP_LENGTH)
    city_field = CarrierField(CARRIER, f"{path}.city", CITY_LENGTH)
    (first, second), (zip_code,), (city,) = all_of(
        lambda: _lines(party, path),
        lambda: (required(to_ascii(party.zip_code, zip_field), zip_field),),
        lambda: (required(to_ascii(party.city, city_field), city_field),),
    )
    return {"Adress1": first, "Adress2": second, "ZipCode": zip_code, "City": city, "Country": party.country_code}


def _lines(party: Party, path: str) -> tuple[str, ...]:
    """Return two lines: one each for the address lines given, or all of it wrapped to both."""
    fields = [CarrierField(CARRIER, f"{path}.{name}", LINE_LENGTH) for name in ("address1", "address2")]
    street, more = to_ascii(party.address1, fields[0]), to_ascii(party.address2, fields[1])
    if not street:
        raise fields[0].error("has no text that alpha can print")
    lines = wrapped(street, fields[0], LINES) + wrapped(more, fields[1], LINES)
    if len(lines) > LINES:
        lines = wrapped(f"{street} {more}", fields[1], LINES)
    return lines[0], lines[1] if len(lines) > 1 else ""


def _contact(party: Party, path: str, *, is_phone_required: bool = False) -> Values:
    """Return the e-mail address and the phone number: a mobile in the mobile's field, any other in the phone's.

    Relays abroad require a phone number; a mobile then goes into both fields.
    """
    phone_field = CarrierField(CARRIER, f"{path}.phone", PHONE_LENGTH, RequestRejected)
    email_field = CarrierField(CARRIER, f"{path}.email", EMAIL_LENGTH, RequestRejected)
    phone, email = all_of(lambda: phone_of(party, phone_field), lambda: email_of(party, email_field))
    if is_phone_required and not phone:
        raise phone_field.error("is required by the product")
    is_mobile = phones.is_mobile(phone)
    return {
        "Email": email,
        "Phone": phone if is_phone_required or not is_mobile else "",
        "MobilePhone": phone if is_mobile else "",
    }
