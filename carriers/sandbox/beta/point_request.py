"""Reads and validates requests to beta's pickup point service, whose errors have codes of their own.

The page names 101, 102, 201 and 202 (credentials), 124 (the id, or a network that is missing), 146, 203, 300 and 301
(nothing there) and 1000; which field each of the others belongs to is a choice.
"""

import re
from dataclasses import dataclass

from carriers.sandbox.beta import accounts
from carriers.sandbox.beta.answers import CodeError
from carriers.sandbox.beta.json_request import read_request
from carriers.sandbox.beta.tables import NUMBER
from carriers.sandbox.countries import COUNTRIES
from carriers.sandbox.data import error_texts
from carriers.sandbox.http import Request

MISSING_ACCOUNT, MISSING_PASSWORD, WRONG_CREDENTIALS, NOT_ALLOWED = 101, 102, 201, 202
WRONG_ID, NO_JSON, NO_POINT, NOT_SERVED, SYSTEM = 124, 145, 300, 203, 1000
MESSAGES = error_texts("beta points")
FILTERS = ("0", "1", "2", "3", "5", "10", "11")
SEARCHED = ("address", "zipCode", "city", "countryCode", "shippingDate", "weight", "filterRelay", "optionInter", "lang",
            "requestId", "origin")  # fmt: skip
LOOKED_UP = ("id", "date", "weight", "filterRelay", "reseau", "langue")
CREDENTIALS = ("accountNumber", "password", "apiKey", "codTiersPourPartenaire")

Fields = dict[str, str]


@dataclass(frozen=True)
class Rule:
    """A field, its pattern, and the codes for a missing (0: it may be) and for another value."""

    name: str
    pattern: str
    missing: int
    wrong: int


_DATE = r"(0[1-9]|[12]\d|3[01])/(0[1-9]|1[0-2])/\d{4}"
_SHARED = (Rule("weight", r"\d+", 0, 120), Rule("weight", r"0*[1-9]\d{0,4}", 0, 121))
_FILTER = "|".join(FILTERS)
SEARCH_RULES = (
    Rule("zipCode", "[A-Za-z0-9]{1,10}", 104, 117),
    Rule("city", ".+", 105, 105),
    Rule("countryCode", "|".join(sorted(COUNTRIES)), 125, 125),
    Rule("shippingDate", _DATE, 106, 122),
    *_SHARED,
    Rule("filterRelay", _FILTER, 123, 123),
    Rule("optionInter", "[01]", 143, 144),
    Rule("lang", "[A-Z]{2}", 0, 129),
    Rule("requestId", ".{1,64}", 0, 127),
)
LOOK_UP_RULES = (
    Rule("id", r"\d{6}", 107, WRONG_ID),
    Rule("date", _DATE, 106, 122),
    *_SHARED,
    Rule("filterRelay", _FILTER, 0, 123),
    Rule("langue", "[A-Z]{2}", 0, 129),
)


def read_fields(request: Request, names: tuple[str, ...]) -> Fields:
    """Return the fields as text, "" for a null; MalformedError for a body that is not this service's."""
    names += CREDENTIALS
    body = read_request(request, dict.fromkeys(names, (str, *NUMBER)))
    return {name: str(body.get(name, "")).strip() for name in names}


def validate_credentials(fields: Fields) -> None:
    """Accept any account with a password, or an API key, except those that end in 30000, 30007, 30008 and 30009."""
    if not fields["apiKey"]:
        if not fields["accountNumber"]:
            raise CodeError(MISSING_ACCOUNT)
        if not fields["password"]:
            raise CodeError(MISSING_PASSWORD)
    name = fields["apiKey"] or fields["accountNumber"]
    if name.endswith(accounts.WRONG):
        raise CodeError(WRONG_CREDENTIALS)
    if name.endswith(accounts.NOT_ALLOWED) or accounts.is_number_missing(name, fields["codTiersPourPartenaire"]):
        raise CodeError(NOT_ALLOWED)


def validate(fields: Fields, rules: tuple[Rule, ...]) -> None:
    for rule in rules:
        value = fields[rule.name]
        if not value and rule.missing:
            raise CodeError(rule.missing)
        if value and not re.fullmatch(rule.pattern, value, re.ASCII):
            raise CodeError(rule.wrong)
