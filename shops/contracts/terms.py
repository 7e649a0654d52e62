"""Checks of what is entered about a contract, for the command and for the admin's form."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext

from carriers import CARRIERS
from carriers.errors import CarrierError
from carriers.products import PRODUCTS
from carriers.text import CarrierField, fitting, to_latin

COMMERCIAL_NAME_LENGTH = 35
GOODS_LENGTH = 64  # as they are kept
HS_CODE = re.compile(r"[0-9]{6}([0-9]{2}){0,2}")
# Of a test shop's contract without credentials of its own: the sandbox takes any that have the carrier's form.
SANDBOX_ACCOUNT = "73577357"
SANDBOX_SECRET = {"password": "735773", "api_key": ""}
ACCOUNTS = ("account_number", "parent_account_number", "pickup_account_number")
NO_CUSTOMS = {
    "customs_description": "",
    "customs_value_eur": None,
    "customs_hs_code": "",
    "customs_shipping_cost_eur": None,
}
Override = dict[str, str]


class TermsError(ValueError):
    """A field of a contract is wrong; `str()` says why and never quotes a secret."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def products_of(carrier_code: str) -> list[str]:
    return [product.code for product in PRODUCTS.values() if product.carrier == carrier_code]


def checked_product(carrier_code: str, code: str, replacement: str, service: str, as_code: str = "") -> Override | None:
    """Return what the contract replaces of a product, None for nothing; raise TermsError."""
    carrier, own = CARRIERS[carrier_code], products_of(carrier_code)
    if code not in own:
        raise TermsError("products", gettext("{code!r} is none of {codes}").format(code=code, codes=", ".join(own)))
    if replacement and not carrier.product_code.fullmatch(replacement):
        text = gettext("{code!r} is no product code of {carrier_code}")
        raise TermsError("products", text.format(code=replacement, carrier_code=carrier_code))
    if service and not carrier.has_services:
        text = gettext("{carrier_code} has no services, so leave out :{service}")
        raise TermsError("products", text.format(carrier_code=carrier_code, service=service))
    if service and not (replacement and re.fullmatch(r"[0-9]{1,3}", service)):
        raise TermsError("products", gettext("a service has 1 to 3 digits, and stands with the carrier's code"))
    if as_code and not (service and re.fullmatch(r"[A-Za-z0-9]{1,3}", as_code)):
        text = gettext("`as` has 1 to 3 letters and digits, and stands with alpha's code and service")
        raise TermsError("products", text)
    codes = {"carrier_code": replacement, "service": service} | ({"as_code": as_code} if as_code else {})
    return codes if replacement else None


def checked_text(carrier_code: str, field: str, text: str, limit: int) -> str:
    """Return a text that the carrier can print; raise TermsError."""
    carrier_field = CarrierField(carrier_code, field, limit)
    try:
        return fitting(to_latin(text, carrier_field), carrier_field)
    except CarrierError as error:
        raise TermsError(field, error.detail) from None


def checked_name(carrier_code: str, name: str) -> str:
    return checked_text(carrier_code, "commercial_name", name, COMMERCIAL_NAME_LENGTH)


def checked_customs(carrier_code: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the article declared to customs, complete or empty, from texts or amounts; raise TermsError."""
    description, cost = values["customs_description"], values["customs_shipping_cost_eur"]
    try:
        if description.strip():
            CARRIERS[carrier_code].printed_goods(description, "")  # in its own letters
    except CarrierError as error:
        raise TermsError("customs_description", error.detail) from None
    description = checked_text(carrier_code, "customs_description", description, GOODS_LENGTH)
    required = (description, values["customs_value_eur"], values["customs_hs_code"])
    if all(value in ("", None) for value in (*required, cost)):
        return dict(NO_CUSTOMS)
    if any(value in ("", None) for value in required):
        raise TermsError("customs", "need each other")
    if not HS_CODE.fullmatch(values["customs_hs_code"]):
        raise TermsError("customs_hs_code", gettext("needs 6, 8 or 10 digits"))
    return {
        "customs_description": description,
        "customs_value_eur": checked_euros("customs_value_eur", values["customs_value_eur"]),
        "customs_hs_code": values["customs_hs_code"],
        "customs_shipping_cost_eur": None if cost in ("", None) else checked_euros("customs_shipping_cost_eur", cost),
    }


def checked_euros(field: str, amount: Any) -> Decimal:
    """Return an amount above 0; raise TermsError."""
    try:
        euros = Decimal(amount)
    except InvalidOperation:
        euros = Decimal(0)
    if not (euros.is_finite() and 0 < euros < 10**8 and euros == round(euros, 2)):
        raise TermsError(field, gettext("needs euros above 0, with at most two decimals"))
    return euros


def needs(carrier_code: str) -> str:
    """Say which accounts and secrets a carrier has."""
    meaning = gettext(CARRIERS[carrier_code].credentials_shape.meaning)
    return gettext("{carrier_code} needs {meaning}").format(carrier_code=carrier_code, meaning=meaning)


def check_accounts(carrier_code: str, numbers: Mapping[str, str]) -> None:
    """Raise TermsError for an account number that is none of the carrier's; the parent's and pickup's may be empty."""
    shape = CARRIERS[carrier_code].credentials_shape
    for field in ACCOUNTS:
        number = numbers[field]
        if (number or field == "account_number") and not shape.account_number.fullmatch(number):
            raise TermsError(field, needs(carrier_code))
    if numbers["parent_account_number"] and not shape.takes_parent:
        text = gettext("{carrier_code} has no parent accounts")
        raise TermsError("parent_account_number", text.format(carrier_code=carrier_code))
    if numbers["pickup_account_number"] == numbers["account_number"]:
        raise TermsError("pickup_account_number", gettext("is the contract's own: leave it out"))


def check_secret(carrier_code: str, password: str, api_key: str) -> None:
    """Raise TermsError for a secret that the carrier can't accept."""
    shape = CARRIERS[carrier_code].credentials_shape
    if (api_key and not shape.takes_api_key) or not shape.password.fullmatch(password or api_key):
        raise TermsError("api_key" if api_key else "password", needs(carrier_code))
