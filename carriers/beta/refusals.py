"""The meaning of beta's documented error codes: class, our field, cause and remedy."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from carriers.beta.refusal_table import ANOTHER_POINT, BUSY, REFUSALS, same
from carriers.errors import CarrierUnavailable, PickupPointRejected, RequestRejected
from carriers.pickup_points import FIELD as POINT
from carriers.refusals import Refusal
from carriers.validation import RECIPIENT

# Failures of which the page gives only the beginning.
FAILURE_FAMILIES: Final = MappingProxyType({"3xx": re.compile(r"3[0-9]{2}"), "10xx": re.compile(r"10[0-9]{2}")})

_UNKNOWN_POINT: Final = Refusal(
    PickupPointRejected,
    POINT,
    cause="the carrier knows no such pickup point in this country",
    remedy=ANOTHER_POINT,
)
# Of the point service.
POINT_REFUSALS: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        **dict.fromkeys(("101", "102", "201", "202"), REFUSALS["30000"]),
        **dict.fromkeys(("124", "146", "203", "300", "301"), _UNKNOWN_POINT),
        **dict(
            same(
                "104-107 117 120-123 125 127 129 143-145",
                RequestRejected,
                RECIPIENT,
                "the carrier's point service refuses a value of the look-up",
                "correct the recipient's postal code, city and country",
            )
        ),
        "1000": BUSY,
    }
)


def refusal_of(code: str) -> Refusal | None:
    """Return the meaning of a label service's code, None for an undocumented one."""
    is_failing = any(family.fullmatch(code) for family in FAILURE_FAMILIES.values())
    return BUSY if is_failing else REFUSALS.get(code)


def is_failure(refusal: Refusal) -> bool:
    """Return true if the carrier itself fails, whatever it is asked."""
    return issubclass(refusal.error, CarrierUnavailable)


def rows() -> Iterable[tuple[str, str, Refusal]]:
    """Return all documented codes for a table: operation, code, meaning."""
    yield from (("purchase", code, refusal) for code, refusal in REFUSALS.items())
    yield from (("purchase", family, BUSY) for family in FAILURE_FAMILIES)
    yield from (("pickup point", code, refusal) for code, refusal in POINT_REFUSALS.items())
