"""The meaning of beta's documented error codes: class, our field, cause and remedy."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from carriers.refusals import Refusal, read_refusals

_TABLES: Final = read_refusals("beta")
REFUSALS: Final = _TABLES["purchase"]  # of the page, and 50005, which is only recorded
POINT_REFUSALS: Final = _TABLES["pickup point"]
# The place of searches is the customer's. A code that is not here is a failure: the rest of the request is our own.
SEARCH_REFUSALS: Final = _TABLES["search"]
TRACKING_REFUSALS: Final = _TABLES["tracking"]
BUSY: Final = REFUSALS["1"]
# Failures of which the page gives only the beginning.
FAILURE_FAMILIES: Final = {"3xx": re.compile(r"3[0-9]{2}"), "10xx": re.compile(r"10[0-9]{2}")}
# All documented codes for a table, by operation.
DOCUMENTED: Final[Mapping[str, Iterable[tuple[str, Refusal]]]] = {
    "purchase": (*REFUSALS.items(), *((family, BUSY) for family in FAILURE_FAMILIES)),
    "pickup point": POINT_REFUSALS.items(),
}


def refusal_of(code: str) -> Refusal | None:
    """Return the meaning of a label service's code, None for an undocumented one."""
    is_failing = any(family.fullmatch(code) for family in FAILURE_FAMILIES.values())
    return BUSY if is_failing else REFUSALS.get(code)
