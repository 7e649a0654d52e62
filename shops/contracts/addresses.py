"""Postal addresses as the API takes them, with phone numbers in any written form, and a shop's own as a sender."""

# ruff: noqa: N815 - the public names are camelCase

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.core.validators import EmailValidator
from rest_framework import serializers

from carriers import CARRIERS
from carriers.data import rows_of
from carriers.errors import Rejected
from carriers.shipment import Party, PickupPoint
from carriers.validation import SENDER
from shops.api.field_faults import Fault, describe_faults
from shops.api.serializer_fields import ObjectSerializer, StringField, TextField
from shops.contracts import phones

# By all ISO 3166-1 alpha-2 codes that are assigned; in French, the carriers' language, as the Unicode consortium says.
COUNTRY_NAMES: Final = {row["code"]: row["name"] for row in rows_of("country_names.csv", __file__)}
is_email = EmailValidator("must be an e-mail address.", allowlist=[])

MAX_PHONE_LENGTH = 100


class CountryField(StringField):
    """A country by its ISO 3166-1 alpha-2 code, upper case."""

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data)
        if code not in COUNTRY_NAMES:
            upper = code.strip().upper()
            meant = f" Use {upper}." if upper in COUNTRY_NAMES else ""
            raise serializers.ValidationError(f"must be an ISO 3166-1 alpha-2 country code in upper case.{meant}")
        return code


def check_email(email: str) -> None:
    """Refuse an e-mail address that carriers don't accept: printable ASCII at a domain name; an empty one is none."""
    if email:
        is_email(email)
        if not re.fullmatch(r"[!-~]+@[A-Za-z0-9.-]+", email):
            raise serializers.ValidationError("must be an e-mail address of ASCII characters at a domain name.")


class AddressSerializer(ObjectSerializer):
    """A postal address; `phone` is read in the address's country and becomes E.164, or stays empty."""

    firstName = TextField()
    lastName = TextField()
    company = StringField(required=False)
    address1 = TextField()
    address2 = StringField(required=False)
    city = TextField()
    zip = TextField()
    countryCode = CountryField()
    phone = StringField(required=False, default="", max_length=MAX_PHONE_LENGTH)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values = super().to_internal_value(data)
        values["phone"] = phones.e164(values["phone"], values["countryCode"]) if values["phone"].strip() else ""
        return values

    def rule_faults(self, data: dict[str, Any]) -> Iterator[Fault]:
        phone, country_code = data.get("phone"), data.get("countryCode", "")
        # Without a valid country a number can't be read.
        is_readable = isinstance(country_code, str) and country_code in COUNTRY_NAMES
        if isinstance(phone, str) and phone.strip() and is_readable:
            try:
                phones.e164(phone, country_code)
            except ValueError:
                # The field refuses a longer text by itself.
                advice = phones.advice(phone, country_code) if len(phone) <= MAX_PHONE_LENGTH else ""
                yield ["phone"], f"must be a phone number. {advice}".rstrip()


def party(address: dict[str, str]) -> Party:
    """Convert an address in the API's fields to a carrier's sender or recipient."""
    return Party(
        first_name=address["firstName"],
        last_name=address["lastName"],
        address1=address["address1"],
        zip_code=address["zip"],
        city=address["city"],
        country_code=address["countryCode"],
        company=address.get("company", ""),
        address2=address.get("address2", ""),
        phone=address["phone"],
        email=address.get("email", ""),
        province_code=address.get("provinceCode", ""),
    )


class SenderError(ValueError):
    """The address is wrong; `faults` are the fields' problems where they are known by field."""

    def __init__(self, problem: str, faults: Mapping[str, Any] | None = None) -> None:
        super().__init__(problem)
        self.faults = faults or {}


def checked_sender(data: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the address, and by carrier the reason why its labels can't be sent from it; raise SenderError."""
    serializer = AddressSerializer(data=data)
    if not serializer.is_valid():
        raise SenderError(describe_faults(serializer.errors), serializer.errors)
    address: dict[str, str] = serializer.validated_data
    refusals = {}
    for code, carrier in CARRIERS.items():
        try:
            carrier.check_sender(party(address))
        except Rejected as error:
            refusals[code] = str(error).replace(f"{SENDER}.", "")
    if len(refusals) == len(CARRIERS):
        raise SenderError(next(iter(refusals.values())))
    return address, refusals


def address_of(point: PickupPoint) -> dict[str, str]:
    """Convert a pickup point's address to the API's fields."""
    return {
        "address1": point.address1,
        "address2": point.address2 or point.address3,
        "zip": point.zip_code,
        "city": point.city,
        "countryCode": point.country_code,
    }
