"""alpha's documented error codes: class, our field, cause and remedy."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from carriers.data import rows_of
from carriers.errors import CredentialsRejected
from carriers.refusals import Refusal, Refusals, read_refusals, refusal_in

PRODUCT: Final = "productCode"
_TABLES: Final = read_refusals("alpha")
REFUSALS: Final = _TABLES["purchase"]  # documented for the shipping service's operations
CANCELLATION_REFUSALS: Final = _TABLES["cancellation"]  # `cancelSkybill` answers a wrong contract with 2
TRACKING_REFUSALS: Final = _TABLES["tracking"]  # `trackSkybillV2` documents no other
# Look-ups of the point service send nothing of the order but the code and the country: its codes of invalid data are
# about these.
POINT_REFUSALS: Final = _TABLES["pickup point"]
# The place and the day of searches are the customer's. 700 is also an empty city, which is never sent.
SEARCH_REFUSALS: Final = _TABLES["search"]
CONTRACT_REFUSALS: Final = _TABLES["contract"]  # of the price service's `calculateProducts`
# Code 33 has several meanings; only its text tells them apart. The first that matches counts. A text that names a
# field is about the value there, whatever words are in it.
MEANINGS_OF_33: Final = tuple(
    (re.compile(row["pattern"], re.IGNORECASE), refusal_in(row)) for row in rows_of("alpha/meanings_of_33.csv")
)
# All documented codes for a table, by operation.
DOCUMENTED: Final[Mapping[str, Iterable[tuple[str, Refusal]]]] = {
    "purchase": sorted(
        (*REFUSALS.items(), *(("33", refusal) for _, refusal in MEANINGS_OF_33)), key=lambda row: int(row[0])
    ),
    "cancellation": sorted(CANCELLATION_REFUSALS.items(), key=lambda row: int(row[0])),
    "pickup point": POINT_REFUSALS.items(),
}

# The API's fields by the carrier's names.
FIELDS: Final = {row["name"]: row["field"] for row in rows_of("alpha/field_names.csv")}
_FIELD: Final = re.compile(rf"\b({'|'.join(FIELDS)})\b")


def refusal_of(code: str, text: str, masked: str, refusals: Refusals = REFUSALS) -> Refusal | None:
    """Return the meaning of a code, None for an undocumented one.

    In `masked` are the order's own values masked: a street is no reason. Words that name wrong credentials are the
    carrier's own, whatever a customer is called.
    """
    is_about_a_value = any(name != PRODUCT for name in _FIELD.findall(masked))
    meanings = MEANINGS_OF_33 if code == "33" and refusals is REFUSALS and not is_about_a_value else ()
    spaced = " ".join(text.split())
    for pattern, refusal in meanings:
        if pattern.search(spaced if refusal.error is CredentialsRejected else masked):
            return refusal
    return refusals.get(code)


def in_our_words(text: str) -> str:
    """Replace the carrier's names of fields by the API's."""
    return _FIELD.sub(lambda match: FIELDS[match[1]], text)


def field_of(refusal: Refusal, text: str) -> str:
    """Return the field at fault: the refusal's own, the sender's where the text names that, else the one named."""
    named = [FIELDS[name] for name in _FIELD.findall(text)]
    if not refusal.field:
        return next(iter(named), "")
    return next((field for field in named if _last(field) == _last(refusal.field)), refusal.field)


def _last(path: str) -> str:
    return path.rpartition(".")[2]
