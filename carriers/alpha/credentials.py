"""alpha's credentials in its messages: an account's number and its password."""

import re
from typing import Final

from carriers.alpha.parties import CARRIER
from carriers.errors import CredentialsRejected
from carriers.shipment import Credentials, CredentialsShape

SHAPE: Final = CredentialsShape(
    re.compile(r"[0-9]{8}"),
    re.compile(r"[0-9]{6}"),
    "an account number of 8 digits and a password of 6 digits",
    takes_api_key=False,
    takes_parent=False,
)


def contract(credentials: Credentials) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return what a body says of the contract.

    Refuses credentials that the service answers with a SOAP fault, which looks like an outage.
    """
    if not SHAPE.account_number.fullmatch(credentials.account_number):
        raise CredentialsRejected(CARRIER, "an account number has 8 digits")
    if not SHAPE.password.fullmatch(credentials.password):
        raise CredentialsRejected(CARRIER, "a password has 6 digits")
    return (("accountNumber", credentials.account_number), ("password", credentials.password))
