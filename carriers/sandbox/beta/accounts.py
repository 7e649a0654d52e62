"""The accounts' credentials, the same to every service: which are refused, and their name in the ledger.

Accounts of the newer kind and those under a parent send their own number in every call, beside contract or API key:
here, contract numbers and keys that begin with `NEW` and `CHILD`. The carrier does not publish the code with which it
refuses a call without the number.
"""

import re
from collections.abc import Mapping

from carriers.sandbox.beta.answers import CodeError

SENDING_THEIR_NUMBER = ("NEW", "CHILD")
NUMBER = r"[A-Za-z0-9]{1,64}"
# The ends of refused contract numbers, logins and keys: unknown or closed, and those without this service.
WRONG, NOT_ALLOWED = ("30000", "30007"), ("30008", "30009")
WRONG_CREDENTIALS, NOT_ALLOWED_HERE = 201, 202
REFUSED = (*WRONG, "30008")  # by the services that know one refusal alone


def name_of(credentials: Mapping[str, str]) -> str:
    """Return the API key, or else the login that comes with a password; empty without either."""
    return credentials.get("apiKey") or (credentials.get("login", "") if credentials.get("password") else "")


def check(name: str) -> None:
    """Raise CodeError for an account or key that is refused, as the services do whose errors are numbers."""
    if not name or name.endswith(WRONG):
        raise CodeError(WRONG_CREDENTIALS)
    if name.endswith(NOT_ALLOWED):
        raise CodeError(NOT_ALLOWED_HERE)


def is_number_missing(name: str, number: str) -> bool:
    """Return whether a call of the account or key lacks the number, or has one that is none."""
    is_given = re.fullmatch(NUMBER, number, re.ASCII) is not None
    return not is_given and (bool(number) or name.startswith(SENDING_THEIR_NUMBER))


def account_name(contract: str, api_key: str) -> str:
    """Return the account's name in the ledger; of an API key, a secret, only the end is shown."""
    return f"api key ...{api_key[-4:]}" if api_key else contract
