"""The meanings of a carrier's error codes, read from its table `refusals.csv`: a row for each meaning.

A row's first columns are the carrier's services, with the codes that mean it there; a range is written `30900-30904`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from carriers import errors
from carriers.data import rows_of
from carriers.errors import CarrierError

Refusals = Mapping[str, "Refusal"]
_MEANING: Final = ("error", "is_failing", "field", "cause", "remedy")
_CODES: Final = re.compile(r"(\D*)(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class Refusal:
    """The meaning of an error code: its class, the API's field at fault if known, cause and remedy in plain words.

    `is_failing` is true for a failure of the carrier itself, whoever asks and whatever for.
    """

    error: type[CarrierError]
    is_failing: bool
    field: str
    cause: str
    remedy: str

    def error_of(self, carrier: str, field: str | None = None, code: str = "", text: str = "") -> CarrierError:
        """Return the error, by default about the refusal's own field; code and text are the carrier's, redacted."""
        return self.error(
            carrier,
            f"{self.cause}; {self.remedy}",
            field=self.field if field is None else field,
            carrier_code=code,
            carrier_text=text,
            is_carrier_failing=self.is_failing,
        )


def refusal_in(row: Mapping[str, str]) -> Refusal:
    """Return the meaning that a row of a table has."""
    error = getattr(errors, row["error"])
    return Refusal(error, bool(row["is_failing"]), row["field"], row["cause"], row["remedy"])


def read_refusals(carrier: str) -> Mapping[str, Refusals]:
    """Return a carrier's table: by service, the meaning of each code in the order of the rows."""
    rows = rows_of(f"{carrier}/refusals.csv")
    tables: dict[str, dict[str, Refusal]] = {service: {} for service in rows[0] if service not in _MEANING}
    for row in rows:
        refusal = refusal_in(row)
        for service, table in tables.items():
            table.update(dict.fromkeys(_codes(row[service]), refusal))
    return tables


def _codes(text: str) -> Iterator[str]:
    for prefix, first, last in _CODES.findall(text):
        yield from (f"{prefix.strip()}{number}" for number in range(int(first), int(last or first) + 1))
