"""The meaning of the error codes of beta's point service, and the table of all of beta's codes."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from carriers.beta.refusals import ANOTHER_POINT, BUSY, FAILURE_FAMILIES, REFUSALS, same
from carriers.errors import PickupPointRejected, Refusal, RequestRejected
from carriers.pickup_points import FIELD as POINT
from carriers.validation import RECIPIENT

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

# Of its searches, whose place is the customer's. What is not here is a failure: the rest of the request is our own.
SEARCH_REFUSALS: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        **{code: POINT_REFUSALS[code] for code in "101 102 146 201 202 203 300 301 1000".split()},
        **{
            code: Refusal(RequestRejected, field, cause="the carrier's point service refuses it", remedy="correct it")
            for field, codes in (("zip", "104 117"), ("city", "105"), ("countryCode", "125 144"), ("", "129 143 145"))
            for code in codes.split()
        },
    }
)


def rows() -> Iterable[tuple[str, str, Refusal]]:
    """Return all documented codes for a table: operation, code, meaning."""
    yield from (("purchase", code, refusal) for code, refusal in REFUSALS.items())
    yield from (("purchase", family, BUSY) for family in FAILURE_FAMILIES)
    yield from (("pickup point", code, refusal) for code, refusal in POINT_REFUSALS.items())
