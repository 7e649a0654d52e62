"""Writes tables of any size as streams, CSV and XLSX: nothing is kept in memory or on the disk."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import chain, islice
from typing import Any, Final, NamedTuple, Self
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import get_format

from shops.db.bulk import chunks

Cell = str | int | float | Decimal | date | None
Rows = Iterable[Sequence[Cell]]
ROWS_A_CHUNK: Final = 500
BOM: Final = "\ufeff"  # tells Excel that a CSV is UTF-8
# What a spreadsheet may take for a formula at the start of a cell; the last ones in East Asian widths.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Within a text, where a spreadsheet of another country's separator begins a cell.
FORMULA_WITHIN: Final = re.compile('([,;\t\r\n]"*)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])')


class Reader(NamedTuple):
    """The reader of a file: the time zone of his times, and his decimal sign, a comma where Excel wants `;` in CSV."""

    zone: tzinfo
    decimal: str

    @classmethod
    def now(cls) -> Self:
        """Return the reader of the page that is made now; the file is written when that is over."""
        return cls(timezone.get_current_timezone(), str(get_format("DECIMAL_SEPARATOR")))


class Format(NamedTuple):
    """A kind of file: its media type and its writer."""

    content_type: str
    write: Callable[[Sequence[str], Rows, Reader], Iterator[bytes]]


def as_csv(titles: Sequence[str], rows: Rows, reader: Reader) -> Iterator[bytes]:
    """Yield the file in chunks, the titles first; text that a spreadsheet would run as a formula gets an apostrophe."""
    delimiter = ";" if reader.decimal == "," else ","
    yield BOM.encode() + lines([titles], delimiter)
    for chunk in chunks(rows, ROWS_A_CHUNK):
        yield lines(([text_in_csv(cell, reader) for cell in row] for row in chunk), delimiter)


def lines(rows: Iterable[Sequence[Any]], delimiter: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def text_in_csv(cell: Cell, reader: Reader) -> Any:
    if isinstance(cell, datetime):
        return f"{cell.astimezone(reader.zone):%Y-%m-%d %H:%M:%S}"
    if isinstance(cell, float | Decimal):
        return str(cell).replace(".", reader.decimal)
    if not isinstance(cell, str):
        return cell
    return ("'" if cell.startswith(FORMULA_STARTS) else "") + FORMULA_WITHIN.sub(r"\1'", cell)


# --- XLSX ---

MAX_SHEET_ROWS: Final = 1_048_576  # XLSX's own
MAX_CELL: Final = 32_767  # characters, as above
NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
LIKE_AN_ESCAPE: Final = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # which a workbook's reader would decode
# Its parts beside the sheets, each a template of its own name.
PARTS: Final = "xl/workbook.xml xl/styles.xml xl/_rels/workbook.xml.rels _rels/.rels [Content_Types].xml".split()
# The first row stays in sight.
SHEET_START: Final = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
)
DAY_ZERO: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - a workbook's times have no zone
TIME_WIDTH: Final = 17
MAX_WIDTH: Final = 60
SHEET_END: Final = "</sheetData></worksheet>"


class Sink(io.RawIOBase):
    """A file that can only be written to, that is drained as it comes."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: Any) -> int:
        self._written += data
        return len(data)

    def drain(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


def as_xlsx(titles: Sequence[str], rows: Rows, reader: Reader) -> Iterator[bytes]:
    """Yield a workbook of numbers and texts, with as many sheets as the rows need; no text is ever a formula."""
    sink, sheets = Sink(), 0
    remaining = iter([local(cell, reader) for cell in row] for row in rows)
    first: list[Sequence[Any]] = []
    with ZipFile(sink, "w", ZIP_DEFLATED, compresslevel=1) as book:
        while not sheets or first:
            sheets += 1
            with book.open(f"xl/worksheets/sheet{sheets}.xml", "w") as file:
                for chunk in sheet(titles, islice(chain(first, remaining), MAX_SHEET_ROWS - 1)):
                    file.write(chunk.encode())
                    yield sink.drain()
            first = list(islice(remaining, 1))
        for name in PARTS:
            book.writestr(name, render_to_string(f"shops/xlsx/{name}", {"sheets": range(1, sheets + 1)}))
    yield sink.drain()


def local(cell: Cell, reader: Reader) -> Cell:
    return cell.astimezone(reader.zone).replace(tzinfo=None) if isinstance(cell, datetime) else cell


def sheet(titles: Sequence[str], rows: Iterator[Sequence[Any]]) -> Iterator[str]:
    columns = [column_name(number) for number in range(len(titles))]
    first = list(islice(rows, ROWS_A_CHUNK))
    yield SHEET_START + widths([titles, *first]) + "<sheetData>" + row_of(1, columns, titles, style=' s="1"')
    for chunk in chunks(enumerate(chain(first, rows), 2), ROWS_A_CHUNK):
        yield "".join(row_of(number, columns, row) for number, row in chunk)
    yield SHEET_END


def widths(rows: Sequence[Sequence[Any]]) -> str:
    """Return the columns' widths, in characters, by the first rows."""
    widest = (max(map(width, cells)) for cells in zip(*rows, strict=True))
    made = (
        f'<col min="{place}" max="{place}" width="{min(most, MAX_WIDTH) + 2}" customWidth="1"/>'
        for place, most in enumerate(widest, 1)
    )
    return f"<cols>{''.join(made)}</cols>"


def width(cell: Any) -> int:
    return TIME_WIDTH if isinstance(cell, datetime) else len(str(cell or ""))


def row_of(number: int, columns: Sequence[str], cells: Sequence[Any], style: str = "") -> str:
    made = (cell_of(f'{column}{number}"{style}', cell) for column, cell in zip(columns, cells, strict=True))
    return f'<row r="{number}">{"".join(made)}</row>'


def cell_of(place: str, cell: Any) -> str:
    if cell is None or cell == "":
        return ""
    if isinstance(cell, datetime):
        return f'<c r="{place} s="2"><v>{(cell - DAY_ZERO) / timedelta(days=1):.8f}</v></c>'
    if isinstance(cell, date):
        return f'<c r="{place} s="3"><v>{(cell - DAY_ZERO.date()).days}</v></c>'
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        return f'<c r="{place}><v>{cell}</v></c>'
    return f'<c r="{place} t="inlineStr"><is><t xml:space="preserve">{text_of(str(cell))}</t></is></c>'


def text_of(text: str) -> str:
    fitting = text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"
    clean = LIKE_AN_ESCAPE.sub("_x005F_", NOT_IN_XML.sub("", fitting))
    return escape(clean, {"\r": "&#13;"})


def column_name(number: int) -> str:
    """Return A to Z, then AA and so on."""
    letters = ""
    while number >= 0:
        number, place = divmod(number, 26)
        letters, number = chr(ord("A") + place) + letters, number - 1
    return letters


FORMATS: Final = {
    "xlsx": Format("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", as_xlsx),
    "csv": Format("text/csv; charset=utf-8", as_csv),
}
