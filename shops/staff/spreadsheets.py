"""Writes tables of any size as streams: CSV and XLSX."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Final, NamedTuple

from shops.staff.workbooks import workbook

Cell = str | int | float | Decimal | date | None
Rows = Iterable[Sequence[Cell]]
LINES_A_CHUNK: Final = 500
BOM: Final = "\ufeff"  # tells Excel that a CSV is UTF-8
# What a spreadsheet may take for a formula at the start of a cell; the last ones in East Asian widths.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class Format(NamedTuple):
    """A kind of file: its media type and its writer."""

    content_type: str
    write: Callable[[Sequence[str], Rows], Iterator[bytes]]


def as_csv(titles: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """Yield the file in chunks, the titles first; text that a spreadsheet would run as a formula gets an apostrophe."""
    yield BOM.encode() + lines([titles])
    remaining = iter(rows)
    while chunk := list(islice(remaining, LINES_A_CHUNK)):
        yield lines([harmless(plain(cell)) for cell in row] for row in chunk)


def lines(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def plain(cell: Cell) -> Any:
    """Return numbers and text as they are, dates and times in ISO 8601."""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return cell.isoformat() if isinstance(cell, date) else cell


def harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell


def as_xlsx(titles: Sequence[str], rows: Rows) -> Iterator[bytes]:
    yield from workbook(titles, ([plain(cell) for cell in row] for row in rows))


FORMATS: Final = {
    "csv": Format("text/csv; charset=utf-8", as_csv),
    "xlsx": Format("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", as_xlsx),
}
