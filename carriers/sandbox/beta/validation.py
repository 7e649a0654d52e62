"""Validates the values of a label request as strictly as beta's documents say."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.accounts import account_name, is_number_missing
from carriers.sandbox.beta.answers import Violations
from carriers.sandbox.beta.customs import OUTSIDE, validate_customs
from carriers.sandbox.beta.points import type_of
from carriers.sandbox.beta.request_fields import ACCOUNT_NUMBER, read_fields, validate_fields
from carriers.sandbox.countries import COUNTRIES, FRANCE, OVERSEAS, PARIS, codes, is_postal_code_of
from carriers.sandbox.json_request import Json
from carriers.sandbox.pickup_points import PickupPoint, folded, point_of

MAGIC_CREDENTIALS = ("30000", "30007", "30008", "30009", "30700")
# Of a wrong and an unfitting postal code.
SENDER_CODES, ADDRESSEE_CODES = (30107, 30108), (30211, 30212)
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
NOT_INSURABLE, WRONG_OPTION = 30309, 30026
LOCAL_POST, PARTNER = 1, 0  # of reseauPostal
WITH_NETWORKS = codes("AT BE DE DK EE ES FI IT LU NL PL")
FRENCH_MOBILE = r"(0|\+330?)[67]\d{8}"
FOREIGN_MOBILE = r"\+[1-9]\d{8,13}"
BELGIAN_MOBILE = r"\+324\d{8}"  # of a parcel to a pickup point; to a home any number will do
MOBILES = {"FR": (FRENCH_MOBILE,), "MC": (FRENCH_MOBILE, FOREIGN_MOBILE)}
NEEDED, WRONG, WRONG_SENDER = 30220, 30221, 30065
ALWAYS_NEEDED = ("BE", "US")
# A row of rising digits is taken for an invented number; the shortest that is published has eight.
RISING, RISING_LENGTH = "0123456789", 8
RISING_ROWS = tuple(RISING[start : start + RISING_LENGTH] for start in range(len(RISING) - RISING_LENGTH + 1))


def validate_request(body: Json, api_key: str) -> Violations:
    """Return every error and warning; wrong credentials end the validation."""
    violations = Violations()
    validate_credentials(violations, body, api_key)
    if violations.errors:
        return violations
    letter = body["letter"]
    _validate_characters(violations, letter)
    _validate_service(violations, letter["service"], body["outputFormat"])
    _validate_sender(violations, letter["sender"])
    _validate_addressee(violations, letter["addressee"])
    _validate_product(violations, letter)
    _validate_weight(violations, letter["parcel"])
    _validate_addressees_mobile(violations, letter)
    _validate_pickup(violations, letter)
    _validate_options(violations, letter)
    _validate_return_choice(violations, letter)
    validate_fields(body, violations)
    validate_customs(violations, body)
    return violations


def account_of(body: Json, api_key: str) -> str:
    return account_name(body.get("contractNumber", ""), api_key)


def _served(letter: Json) -> frozenset[str]:
    """Return the product codes from the sender's place to the addressee's, none where nothing is known or served."""
    is_overseas = letter["sender"]["address"].get("countryCode") in OVERSEAS
    table = tables.FROM_OVERSEAS if is_overseas else tables.DESTINATIONS
    return table.get(letter["addressee"]["address"].get("countryCode", ""), frozenset())


def validate_credentials(violations: Violations, body: Json, api_key: str) -> None:
    contract, password = body.get("contractNumber", ""), body.get("password", "")
    is_one_way = not (contract or password) if api_key else (contract and password)
    violations.require(is_one_way, 30000, "contractNumber and password, or the header apiKey")
    for code in MAGIC_CREDENTIALS:
        if (api_key or contract).endswith(code):
            violations.error(int(code))
    is_missing = is_number_missing(api_key or contract, read_fields(body).get(ACCOUNT_NUMBER, ""))
    violations.require(not is_missing, 30008, ACCOUNT_NUMBER)


def _validate_characters(violations: Violations, letter: Json) -> None:
    for path, text in _texts(letter, "letter"):
        if any(not _is_latin(char) for char in text):
            violations.error(30600, path)


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


def _validate_service(violations: Violations, service: Json, output: Json) -> None:
    violations.validate(output, tables.RULES["outputFormat"])
    violations.validate(service, tables.RULES["service"])
    try:
        is_past = date.fromisoformat(_plain_date(service)) < datetime.now(PARIS).date()
    except ValueError:
        violations.error(30010, "depositDate")
    else:
        violations.require(not is_past, 30002, "depositDate")


def _plain_date(service: Json) -> str:
    """Return the date if written yyyy-MM-dd, else nothing: Python would read other ISO forms too."""
    text: str = service.get("depositDate", "")
    return text if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else ""


def _validate_sender(violations: Violations, sender: Json) -> None:
    address = sender["address"]
    violations.validate(sender, tables.RULES["sender"])
    violations.validate(address, tables.RULES["sender.address"])
    violations.require(address.get("companyName") or address.get("lastName"), 30100, "companyName or lastName")
    _validate_place(violations, address, SENDER_CODES)
    _validate_mobile(violations, address, WRONG_SENDER)


def _validate_addressee(violations: Violations, addressee: Json) -> None:
    address = addressee["address"]
    violations.validate(addressee, tables.RULES["addressee"])
    violations.validate(address, tables.RULES["addressee.address"])
    if not address.get("companyName"):
        violations.require(address.get("lastName"), 30200, "lastName")
        violations.require(address.get("firstName"), 30202, "firstName")
    _validate_place(violations, address, ADDRESSEE_CODES)
    _validate_mobile(violations, address, WRONG)


def _validate_place(violations: Violations, address: Json, codes: tuple[int, ...]) -> None:
    wrong_zip, unfitting_zip = codes
    country, postal_code = address.get("countryCode", ""), address.get("zipCode", "")
    if country == "FR" and postal_code and not re.fullmatch(r"\d{5}", postal_code, re.ASCII):
        violations.error(wrong_zip, "zipCode")
    elif country and postal_code and not _is_postal_code(country, postal_code):
        violations.error(unfitting_zip, "zipCode and countryCode")


def _is_postal_code(country: str, postal_code: str) -> bool:
    """Return whether it fits, in beta's own form: AE zeros, LU without letters, US what stands before the dash."""
    form = {"AE": "00000", "LU": r"\d{4}", "US": r"\d{5}"}.get(country)
    return re.fullmatch(form, postal_code, re.ASCII) is not None if form else is_postal_code_of(country, postal_code)


def _validate_product(violations: Violations, letter: Json) -> None:
    code = letter["service"].get("productCode", "")
    violations.require(code, 30014)
    violations.require(not code or code in tables.PRODUCTS, 30015)
    if code not in tables.PRODUCTS or letter["addressee"]["address"].get("countryCode") not in COUNTRIES:
        return
    violations.require(code in _served(letter), 30213)


def _validate_return_choice(violations: Violations, letter: Json) -> None:
    choice, country = letter["service"].get("returnTypeChoice"), letter["addressee"]["address"].get("countryCode", "")
    is_international = country in COUNTRIES - FRANCE - OVERSEAS
    choices = tables.RETURN_CHOICES_OF.get(country, tables.RETURN_CHOICES)
    violations.require(choice is not None or not is_international, 30550, "returnTypeChoice")
    violations.require(choice in (None, *choices), 30550, "returnTypeChoice")


def _validate_weight(violations: Violations, parcel: Json) -> None:
    weight = parcel.get("weight")
    if weight is None:
        violations.error(30300)
        return
    is_in_range = tables.LIGHTEST_KG <= weight <= tables.HEAVIEST_KG
    violations.require(is_in_range and weight == round(weight, 2), 30301)


def _validate_pickup(violations: Violations, letter: Json) -> None:
    service, code = letter["service"], letter["parcel"].get("pickupLocationId", "")
    if service.get("productCode") not in tables.PICKUP_CODES:
        violations.require(not code, 30402, "pickupLocationId is for pickup products only")
        return
    violations.require(code, 30400)
    violations.require(service.get("commercialName"), 30018)
    if code:
        _validate_point(violations, letter, code)


def _validate_point(violations: Violations, letter: Json, code: str) -> None:
    point = point_of("beta", code) if re.fullmatch(r"\d{6}", code, re.ASCII) else None
    if point is None:
        violations.error(30401, "pickupLocationId")
        return
    violations.require(point.country == letter["addressee"]["address"].get("countryCode"), 30403)
    violations.require(type_of(point) in TAKEN[letter["service"]["productCode"]], 30402)
    violations.require(point.status == "full" or point.is_open, 30900)
    violations.require(letter["parcel"].get("weight", 0) <= point.max_weight_kg, 30901)
    violations.require(point.status != "full", 30902)


def misrouted_by(letter: Json) -> tuple[str, ...]:
    """Return the addressee's fields that are not the pickup point's own: the carrier prints them all the same."""
    point = point_of("beta", letter["parcel"].get("pickupLocationId", ""))
    return _differences(letter["addressee"]["address"], point) if point else ()


def _differences(address: Json, point: PickupPoint) -> tuple[str, ...]:
    pairs = {
        "companyName": (address.get("companyName", ""), point.name),
        "line2": (address.get("line2", "") + address.get("line3", ""), point.address1 + point.address2),
        "zipCode": (address.get("zipCode", ""), point.zip_code),
        "city": (address.get("city", ""), point.city),
        "countryCode": (address.get("countryCode", ""), point.country),
    }
    return tuple(name for name, (sent, own) in pairs.items() if folded(sent) != folded(own))


def _validate_options(violations: Violations, letter: Json) -> None:
    violations.validate(letter["parcel"], tables.RULES["parcel"])
    _validate_insurance(violations, letter)
    _validate_network(violations, letter)


def _validate_insurance(violations: Violations, letter: Json) -> None:
    cents = letter["parcel"].get("insuranceValue")
    if cents is None:
        return
    code, country = letter["service"].get("productCode"), letter["addressee"]["address"].get("countryCode")
    most_cents = MOST_INSURED_AT_POINTS_CENTS if code in tables.PICKUP_CODES else MOST_INSURED_CENTS
    violations.require(code in INSURED and country not in NOT_INSURED, NOT_INSURABLE, "insuranceValue: not here")
    violations.require(0 < cents <= most_cents, NOT_INSURABLE, f"insuranceValue, of at most {most_cents} cents")


def _validate_network(violations: Violations, letter: Json) -> None:
    """Require the local post to the Canaries, Ceuta and Melilla; elsewhere it is a choice of DOS to some countries."""
    service, address = letter["service"], letter["addressee"]["address"]
    network, country = service.get("reseauPostal"), address.get("countryCode", "")
    if country == "ES" and address.get("zipCode", "").startswith(OUTSIDE["ES"]):
        violations.require(network == LOCAL_POST, WRONG_OPTION, "reseauPostal, 1 to this postal code")
    elif network is not None:
        is_possible = service.get("productCode") == "DOS" and country in WITH_NETWORKS
        violations.require(is_possible and network in (LOCAL_POST, PARTNER), WRONG_OPTION, "reseauPostal")


def _validate_mobile(violations: Violations, address: Json, wrong: int) -> None:
    """Validate the form of an address's mobile number; `wrong` is its code for another one."""
    if mobile := address.get("mobileNumber"):
        forms = MOBILES.get(address.get("countryCode", ""), (FOREIGN_MOBILE,))
        violations.require(any(re.fullmatch(form, mobile, re.ASCII) for form in forms), wrong, "mobileNumber")
        violations.require(not any(row in mobile for row in RISING_ROWS), wrong, "mobileNumber, digits in a row")


def _validate_addressees_mobile(violations: Violations, letter: Json) -> None:
    """Require the addressee's mobile number: at pickup points, in Belgium and the United States, and with `ddp`."""
    address = letter["addressee"]["address"]
    country, mobile = address.get("countryCode", ""), address.get("mobileNumber", "")
    is_pickup = letter["service"].get("productCode") in tables.PICKUP_CODES
    is_needed = is_pickup or country in ALWAYS_NEEDED or letter["parcel"].get("ddp", False)
    violations.require(mobile or not is_needed, NEEDED, "the addressee's mobileNumber")
    if mobile and is_pickup and country == "BE":
        violations.require(re.fullmatch(BELGIAN_MOBILE, mobile, re.ASCII), WRONG, "mobileNumber, not +324NNNNNNNN")
