"""Validates a label request as strictly as beta's documents say: all that is wrong with it, in one order.

The rules of single fields are in `fields.csv`; here are those that look at more of the request.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from typing import Any

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.accounts import is_number_missing
from carriers.sandbox.beta.answers import Violations
from carriers.sandbox.beta.customs import validate_customs
from carriers.sandbox.beta.order import (
    ACCOUNT_NUMBER,
    COUNT,
    FOLLOWERS,
    FORM_FORMAT,
    KEYS,
    RANK,
    TYPE,
    Order,
    read_fields,
)
from carriers.sandbox.beta.points import type_of
from carriers.sandbox.data import COUNTRIES, FRANCE, OVERSEAS, PARIS, codes, is_outside_union, is_postal_code_of
from carriers.sandbox.http import Json
from carriers.sandbox.ledger import Ledger

MAGIC_CREDENTIALS = ("30000", "30007", "30008", "30009", "30700")
# Printed too, though neither Latin-1 nor Latin letters.
MARKS = frozenset("\u2018\u2019“”\u2013—…€")
LAST_LATIN_1 = "\xff"
# The kinds that each code takes: HD takes every one.
TAKEN = {
    "HD": ("BPR", "ACP", "CDI", "A2P", "CMT", "BDP", "PCS"),
    "BPR": ("BPR", "ACP", "CDI"),
    **{code: (code,) for code in ("A2P", "CMT", "BDP", "PCS")},
}
INSURED = codes("DOS CDS COL HD CORE CORI COLI")
NOT_INSURED = codes("SX SS")
MOST_INSURED_CENTS, MOST_INSURED_AT_POINTS_CENTS = 500_000, 100_000
NOT_INSURABLE, WRONG_OPTION, NOT_POSSIBLE = 30309, 30026, 30318
LOCAL_POST, PARTNER = 1, 0  # of reseauPostal
WITH_NETWORKS = codes("AT BE DE DK EE ES FI IT LU NL PL")
# AE has zeros, LU no letters, US what stands before the dash; all others their usual form.
POSTAL_CODES = {"AE": "00000", "LU": r"\d{4}", "US": r"\d{5}"}
FRENCH_MOBILE = r"(0|\+330?)[67]\d{8}"
FOREIGN_MOBILE = r"\+[1-9]\d{8,13}"
BELGIAN_MOBILE = r"\+324\d{8}"  # of a parcel to a pickup point; to a home any number will do
MOBILES = {"FR": FRENCH_MOBILE, "MC": f"{FRENCH_MOBILE}|{FOREIGN_MOBILE}"}
NEEDED, WRONG, WRONG_SENDER = 30220, 30221, 30065
ALWAYS_NEEDED = ("BE", "US")
# Rising digits are taken for an invented number; the shortest row that is published has eight.
RISING_ROWS = ("01234567", "12345678", "23456789")


def validate_request(order: Order, api_key: str, ledger: Ledger) -> Violations:
    """Return every error and warning; with wrong credentials the letter is not looked at."""
    violations = Violations()
    validate_credentials(violations, order.body, api_key)
    if not violations.errors:
        _validate_letter(violations, order)
    if order.is_linked:
        _validate_link(violations, order, ledger)
    return violations


def _validate_letter(violations: Violations, order: Order) -> None:
    for path, text in _texts(order.letter, "letter"):
        violations.require(all(map(_is_latin, text)), 30600, path)
    violations.validate(order.body["outputFormat"], tables.RULES["outputFormat"])
    violations.validate(order.service, tables.RULES["service"])
    text, day = order.service.get("depositDate", ""), None
    with suppress(ValueError):
        day = date.fromisoformat(text)
    violations.require(day and day.isoformat() == text, 30010, "depositDate")  # Python reads other forms, too
    violations.require(day is None or day >= datetime.now(PARIS).date(), 30002, "depositDate")
    _validate_addresses(violations, order)
    _validate_parcel(violations, order)
    _validate_pickup(violations, order)
    _validate_options(violations, order)
    pairs = order.body["fields"].get("field", [])
    is_known = len(order.fields) == len(pairs) and order.fields.keys() <= KEYS
    violations.require(is_known, NOT_POSSIBLE, "fields: unknown or repeated key")
    violations.require(order.form_format in tables.FORMATS, NOT_POSSIBLE, FORM_FORMAT)
    validate_customs(violations, order)


def validate_credentials(violations: Violations, body: Json, api_key: str) -> None:
    contract, password = body.get("contractNumber", ""), body.get("password", "")
    is_one_way = not (contract or password) if api_key else (contract and password)
    violations.require(is_one_way, 30000, "contractNumber and password, or the header apiKey")
    for code in MAGIC_CREDENTIALS:
        violations.require(not (api_key or contract).endswith(code), int(code))
    is_missing = is_number_missing(api_key or contract, read_fields(body).get(ACCOUNT_NUMBER, ""))
    violations.require(not is_missing, 30008, ACCOUNT_NUMBER)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, path)


def _is_latin(char: str) -> bool:
    if char <= LAST_LATIN_1:
        return char.isprintable() or char == "\xa0"
    return char in MARKS or (char.isalpha() and unicodedata.name(char, "").startswith("LATIN "))


def _validate_addresses(violations: Violations, order: Order) -> None:
    sender, addressee = order.sender, order.addressee
    violations.validate(order.letter["sender"], tables.RULES["sender"])
    violations.validate(sender, tables.RULES["sender.address"])
    violations.require(sender.get("companyName") or sender.get("lastName"), 30043, "companyName or lastName")
    _validate_address(violations, sender, 30107, 30108, WRONG_SENDER)
    violations.validate(order.letter["addressee"], tables.RULES["addressee"])
    violations.validate(addressee, tables.RULES["addressee.address"])
    violations.require(addressee.get("companyName") or addressee.get("lastName"), 30200, "lastName")
    violations.require(addressee.get("companyName") or addressee.get("firstName"), 30202, "firstName")
    _validate_address(violations, addressee, 30211, 30212, WRONG)


def _validate_address(violations: Violations, address: Json, wrong: int, unfitting: int, wrong_mobile: int) -> None:
    """Validate an address's postal code and mobile number, with the side's own codes."""
    country, zip_code, mobile = (address.get(name, "") for name in ("countryCode", "zipCode", "mobileNumber"))
    if country == "FR" and zip_code and not re.fullmatch(r"\d{5}", zip_code, re.ASCII):
        violations.error(wrong, "zipCode")
    elif country and zip_code:
        form = POSTAL_CODES.get(country)
        fits = re.fullmatch(form, zip_code, re.ASCII) if form else is_postal_code_of(country, zip_code)
        violations.require(fits, unfitting, "zipCode and countryCode")
    if mobile:
        is_one = re.fullmatch(MOBILES.get(country, FOREIGN_MOBILE), mobile, re.ASCII)
        violations.require(is_one, wrong_mobile, "mobileNumber")
        violations.require(not any(row in mobile for row in RISING_ROWS), wrong_mobile, "mobileNumber, digits in a row")


def _validate_parcel(violations: Violations, order: Order) -> None:
    """Validate the product, the weight, and the addressee's mobile number where the carrier has to send a message."""
    violations.require(order.code, 30014)
    violations.require(not order.code or order.code in tables.PRODUCTS, 30015)
    is_known = order.code in tables.PRODUCTS and order.country in COUNTRIES
    served = tables.FROM_OVERSEAS if order.origin in OVERSEAS else tables.DESTINATIONS
    violations.require(not is_known or order.code in served.get(order.country, ()), 30213)
    weight_kg = order.parcel.get("weight")
    if weight_kg is None:
        violations.error(30300)
    else:
        is_in_range = tables.LIGHTEST_KG <= weight_kg <= tables.HEAVIEST_KG
        violations.require(is_in_range and weight_kg == round(weight_kg, 2), 30301)
    mobile = order.addressee.get("mobileNumber", "")
    is_needed = order.is_pickup or order.country in ALWAYS_NEEDED or order.parcel.get("ddp", False)
    violations.require(mobile or not is_needed, NEEDED, "the addressee's mobileNumber")
    if mobile and order.is_pickup and order.country == "BE":
        violations.require(re.fullmatch(BELGIAN_MOBILE, mobile, re.ASCII), WRONG, "mobileNumber, not +324NNNNNNNN")


def _validate_pickup(violations: Violations, order: Order) -> None:
    point, code = order.point, order.parcel.get("pickupLocationId", "")
    if not order.is_pickup:
        violations.require(not code, 30402, "pickupLocationId is for pickup products only")
        return
    violations.require(code, 30400)
    violations.require(order.service.get("commercialName"), 30018)
    if point is None:
        violations.require(not code, 30401, "pickupLocationId")
        return
    violations.require(point.country == order.country, 30403)
    violations.require(type_of(point) in TAKEN[order.code], 30402)
    violations.require(point.status == "full" or point.is_open, 30900)
    violations.require(order.parcel.get("weight", 0) <= point.max_weight_kg, 30901)
    violations.require(point.status != "full", 30902)


def _validate_options(violations: Violations, order: Order) -> None:
    violations.validate(order.parcel, tables.RULES["parcel"])
    if (cents := order.parcel.get("insuranceValue")) is not None:
        most_cents = MOST_INSURED_AT_POINTS_CENTS if order.is_pickup else MOST_INSURED_CENTS
        is_insured = order.code in INSURED and order.country not in NOT_INSURED
        violations.require(is_insured, NOT_INSURABLE, "insuranceValue: not here")
        violations.require(0 < cents <= most_cents, NOT_INSURABLE, f"insuranceValue, of at most {most_cents} cents")
    is_possible = order.code == "DOS" or not order.parcel.get("disabledDeliveryBlockingCode")
    violations.require(is_possible, WRONG_OPTION, "disabledDeliveryBlockingCode, of DOS only")
    is_odd = order.code == "HD" and order.parcel.get("nonMachinable", False)
    violations.require(not is_odd, WRONG_OPTION, "nonMachinable, false with HD")
    # The local post alone goes to the Canaries, Ceuta and Melilla; elsewhere it is a choice of DOS to some countries.
    network = order.service.get("reseauPostal")
    if order.country == "ES" and is_outside_union("ES", order.addressee.get("zipCode", "")):
        violations.require(network == LOCAL_POST, WRONG_OPTION, "reseauPostal, 1 to this postal code")
    elif network is not None:
        is_possible = order.code == "DOS" and order.country in WITH_NETWORKS
        violations.require(is_possible and network in (LOCAL_POST, PARTNER), WRONG_OPTION, "reseauPostal")
    choice = order.service.get("returnTypeChoice")
    is_international = order.country in COUNTRIES - FRANCE - OVERSEAS
    choices = tables.RETURN_CHOICES_OF.get(order.country, tables.RETURN_CHOICES)
    violations.require(choice is not None or not is_international, 30550, "returnTypeChoice")
    violations.require(choice in (None, *choices), 30550, "returnTypeChoice")


def _validate_link(violations: Violations, order: Order, ledger: Ledger) -> None:
    """Require links that agree, overseas, and a master's followers of this contract, each rank once."""
    rank, count, followers = order.rank, order.count, order.followers
    kind, is_master = order.fields.get(TYPE), order.fields.get(TYPE) == "MASTER"
    violations.require(order.country in OVERSEAS, NOT_POSSIBLE, f"{TYPE}: linked parcels go overseas only")
    violations.require(kind in ("FOLLOWER", "MASTER"), NOT_POSSIBLE, TYPE)
    violations.require(1 < count <= tables.MOST_PARCELS, NOT_POSSIBLE, COUNT)
    violations.require(rank == count if is_master else 1 <= rank < count, NOT_POSSIBLE, RANK)
    violations.require(len(followers) == (count - 1 if is_master else 0), NOT_POSSIBLE, FOLLOWERS)
    if not violations.errors:
        found = [ledger.purchase("beta", number) for number in followers]
        theirs = [row for row in found if row and row.account in order.accounts and row.parcel_count == count]
        ranks = {row.parcel_rank for row in theirs}
        violations.require(ranks == set(range(1, len(found) + 1)), NOT_POSSIBLE, f"{FOLLOWERS}: unknown numbers")
