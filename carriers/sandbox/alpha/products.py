"""alpha's price service: lists the products that a contract has for a destination, and tells when one arrives.

Which products the second knows is not published: here those that go to a door.
"""

import re
from datetime import datetime, time

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.beta.accounts import after_working_days
from carriers.sandbox.data import COUNTRIES, PARIS, is_postal_code_of
from carriers.sandbox.http import Response
from carriers.sandbox.state import State

LIST, TIME = "calculateProducts", "calculateDeliveryTime"
# Mayotte has another code here, Monaco is France, and Saint-Martin is asked for as Saint-Pierre.
WRITTEN = {"YT": "YO", "MC": "FR", "MF": "PM"}
DAYS = {"1": 1, "2": 1, "16": 1, "4I": 0, "44": 3, "17": 4}
LATEST_HOUR = time(18)
EMPTY, CREDENTIALS, WRONG_PRODUCT, NO_TARIFF = 2, 3, 4, 5
NO_CONTRACT = "000033"  # the end of an account that has no product
LACKING = "0000"  # before the product that an account lacks: 19000086 has no 86


def _list(state: State, message: soap.Message) -> Response:
    fields = _fields(message)
    account, country = fields["accountNumber"], fields["arrCountryCode"]
    try:
        validate_credentials(account, fields["password"])
    except soap.RefusalError:
        soap.require(account.endswith(NO_CONTRACT), CREDENTIALS)
    is_known = country not in WRITTEN and {_country(country), fields["depCountryCode"]} <= COUNTRIES
    soap.require(is_known, NO_TARIFF)
    is_from_there = is_postal_code_of(fields["depCountryCode"], fields["depZipCode"])
    soap.require(is_from_there and _is_there(country, fields["arrZipCode"]), NO_TARIFF)
    weight_kg = float(fields["weight"])
    soap.require(0 < weight_kg <= tables.HEAVIEST_KG, NO_TARIFF)

    codes = _codes(account, _country(country))
    found = [_product(code) for code in codes if weight_kg <= tables.PRODUCTS[code].heaviest_kg]
    return service.perform(state, message, lambda _: service.succeeded(message, found))


def _fields(message: soap.Message) -> dict[str, str]:
    """Return the fields; refuse the first that is empty, or has a value that the page does not name."""
    fields = message.fields()
    soap.validate(fields, tables.RULES[message.operation])
    return fields


def _is_there(country: str, zip_code: str) -> bool:
    """Return whether the postal code is one of the country, or of those that are written as this one."""
    places = [_country(country), *(code for code, written in WRITTEN.items() if written == country)]
    return any(is_postal_code_of(place, zip_code) for place in places)


def _country(code: str) -> str:
    return "YT" if code == WRITTEN["YT"] else code


def _time(state: State, message: soap.Message) -> Response:
    fields = _fields(message)
    soap.require(re.fullmatch(r"\d{5}", fields["depZipCode"]), EMPTY, "depZipCode")
    soap.require(fields["productCode"] in DAYS, WRONG_PRODUCT)
    shipped = fields.get("shippingDate") or datetime.now(PARIS).isoformat()
    try:
        sent = datetime.fromisoformat(shipped).date()
    except ValueError:
        raise soap.RefusalError(EMPTY, "shippingDate") from None

    arrives = datetime.combine(after_working_days(sent, DAYS[fields["productCode"]]), LATEST_HOUR, PARIS)
    return service.perform(state, message, lambda _: service.succeeded(message, [("date", arrives.isoformat())]))


def _codes(account: str, country: str) -> list[str]:
    if account.endswith(NO_CONTRACT):
        return []
    lacked = account[-2:] if account[-6:-2] == LACKING else ""
    return [code for code, product in tables.PRODUCTS.items() if country in product.countries and code != lacked]


def _product(code: str) -> tuple[str, soap.Tree]:
    """Write a product as the service does: without leading zeros, and without amounts on a test account."""
    amounts: soap.Elements = [(name, "0.0") for name in ("amount", "amountTTC", "amountTVA")]
    return "productList", [*amounts, ("productCode", code.lstrip("0") or "0")]


OPERATIONS = {LIST: _list, TIME: _time}
