"""beta's credentials in its messages: a contract number with its password, or an API key, and the account's number."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from carriers.beta.parties import CARRIER
from carriers.errors import CredentialsRejected
from carriers.shipment import Credentials, CredentialsShape

HEADERS: Final = MappingProxyType({"Content-Type": "application/json"})
SHAPE: Final = CredentialsShape(
    re.compile(r"[A-Za-z0-9]{1,64}"),
    re.compile(r"[!-~]{1,200}"),
    "a contract number of letters and digits, and a password or an API key of printable ASCII without spaces",
    takes_api_key=True,
    takes_parent=True,
)
_HEADER_VALUE: Final = re.compile(r"[!-~]+")


def check(credentials: Credentials) -> None:
    """Refuse credentials that cannot be sent, so that they do not look like a failure of the carrier."""
    if credentials.api_key and not _HEADER_VALUE.fullmatch(credentials.api_key):
        raise CredentialsRejected(CARRIER, "an API key is of printable ASCII")
    if not credentials.api_key and not (credentials.account_number and credentials.password):
        raise CredentialsRejected(CARRIER, "a contract number with its password, or an API key, is needed")


def headers(credentials: Credentials) -> Mapping[str, str]:
    """Return the headers of a call of the label service."""
    return {**HEADERS, **({"apiKey": credentials.api_key} if credentials.api_key else {})}


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
