"""Writes tables of any size in constant memory: CSV as it goes, XLSX by way of a temporary file."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain, islice
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, Final, NamedTuple

from xlsxwriter import Workbook

Cell = str | int | float | Decimal | date | None
Rows = Iterable[Sequence[Cell]]
MAX_SHEET_ROWS: Final = 1_048_576  # XLSX's own
MAX_CELL: Final = 32_767  # characters, as above
LINES_A_CHUNK: Final = 500
CHUNK_BYTES: Final = 256 * 1024
BOM: Final = "\ufeff"  # tells Excel that a CSV is UTF-8
# What a spreadsheet may take for a formula at the start of a cell.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


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
    """Write the file, then yield it; it is gone from the disk as soon as it is closed."""
    with TemporaryFile() as file, TemporaryDirectory() as folder:
        fill(Workbook(file, {"constant_memory": True, "tmpdir": folder}), titles, rows)
        file.seek(0)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def fill(book: Workbook, titles: Sequence[str], rows: Rows) -> None:
    """Write all rows, into as many sheets as they need; text is never a formula, a link or a number."""
    bold = book.add_format({"bold": True})
    remaining = iter(rows)
    first: list[Sequence[Cell]] = list(islice(remaining, 1))
    while True:
        sheet = book.add_worksheet()
        sheet.freeze_panes(1, 0)
        for column, title in enumerate(titles):
            sheet.write_string(0, column, title, bold)
        for number, row in enumerate(islice(chain(first, remaining), MAX_SHEET_ROWS - 1), 1):
            write_row(sheet, number, row)
        first = list(islice(remaining, 1))
        if not first:
            break
    book.close()


def write_row(sheet: Any, number: int, row: Sequence[Cell]) -> None:
    for column, cell in enumerate(map(plain, row)):
        if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
            sheet.write_number(number, column, cell)
        elif cell is not None and cell != "":
            sheet.write_string(number, column, str(cell)[:MAX_CELL])


FORMATS: Final = {
    "csv": Format("text/csv; charset=utf-8", as_csv),
    "xlsx": Format("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", as_xlsx),
}
