"""Accounts that send their own number in every call, beside contract or API key.

They are those of the newer kind and those under a parent: here, contract numbers and keys that begin with `NEW` and
`CHILD`. The carrier does not publish the code with which it refuses a call without the number.
"""

import re

SENDING_THEIR_NUMBER = ("NEW", "CHILD")
NUMBER = r"[A-Za-z0-9]{1,64}"


def is_number_missing(name: str, number: str) -> bool:
    """Return whether a call of the account or key lacks the number, or has one that is none."""
    is_given = re.fullmatch(NUMBER, number, re.ASCII) is not None
    return not is_given and (bool(number) or name.startswith(SENDING_THEIR_NUMBER))
