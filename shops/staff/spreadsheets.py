"""Writes tables of any size as streams, CSV and XLSX: nothing is kept in memory or on the disk."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain, islice
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

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


# --- XLSX ---

MAX_SHEET_ROWS: Final = 1_048_576  # XLSX's own
MAX_CELL: Final = 32_767  # characters, as above
ROWS_A_CHUNK: Final = 500
NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
LIKE_AN_ESCAPE: Final = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # which a workbook's reader would decode
XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
# The first row stays in sight.
SHEET_START: Final = (
    f'{XML}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)
SHEET_END: Final = "</sheetData></worksheet>"
# Style 1 is bold.
STYLES: Final = (
    f'{XML}<styleSheet xmlns="{MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill '
    'patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border>'
    '<left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf/><xf fontId="1" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
TYPES: Final = (
    f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{TYPE}.styles+xml"/>'
)
ROOT: Final = f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'


class Sink:
    """A file that can only be written to, whose content is taken as it comes."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: bytes) -> int:
        self._written += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: it is taken when it is wanted."""

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


def workbook(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield a workbook of numbers and texts, with as many sheets as the rows need; no text is ever a formula."""
    sink, remaining, sheets = Sink(), iter(rows), 0
    first: list[Sequence[Any]] = []
    with ZipFile(sink, "w", ZIP_DEFLATED, compresslevel=1) as book:  # type: ignore[call-overload]  # it needs no more than to write
        while not sheets or first:
            sheets += 1
            with book.open(f"xl/worksheets/sheet{sheets}.xml", "w") as file:
                for chunk in sheet(titles, islice(chain(first, remaining), MAX_SHEET_ROWS - 1)):
                    file.write(chunk.encode())
                    yield sink.take()
            first = list(islice(remaining, 1))
        for name, text in frame(sheets):
            book.writestr(name, text)
    yield sink.take()


def sheet(titles: Sequence[str], rows: Iterator[Sequence[Any]]) -> Iterator[str]:
    columns = [column_name(number) for number in range(len(titles))]
    yield SHEET_START + row_of(1, columns, titles, style=' s="1"')
    number = 2
    while chunk := list(islice(rows, ROWS_A_CHUNK)):
        yield "".join(row_of(number + place, columns, row) for place, row in enumerate(chunk))
        number += len(chunk)
    yield SHEET_END


def row_of(number: int, columns: Sequence[str], cells: Sequence[Any], style: str = "") -> str:
    made = (cell_of(f'{column}{number}"{style}', cell) for column, cell in zip(columns, cells, strict=True))
    return f'<row r="{number}">{"".join(made)}</row>'


def cell_of(place: str, cell: Any) -> str:
    if cell is None or cell == "":
        return ""
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        return f'<c r="{place}><v>{cell}</v></c>'
    return f'<c r="{place} t="inlineStr"><is><t xml:space="preserve">{text_of(str(cell))}</t></is></c>'


def text_of(text: str) -> str:
    clean = LIKE_AN_ESCAPE.sub("_x005F_", NOT_IN_XML.sub("", text[:MAX_CELL]))
    return escape(clean, {"\r": "&#13;"})


def column_name(number: int) -> str:
    """Return A to Z, then AA and so on."""
    letters = ""
    while number >= 0:
        number, place = divmod(number, 26)
        letters, number = chr(ord("A") + place) + letters, number - 1
    return letters


def frame(sheets: int) -> Iterator[tuple[str, str]]:
    """Yield the parts that name the sheets."""
    numbers = range(1, sheets + 1)
    listed = "".join(f'<sheet name="Sheet{each}" sheetId="{each}" r:id="rId{each}"/>' for each in numbers)
    related = "".join(
        f'<Relationship Id="rId{each}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{each}.xml"/>'
        for each in numbers
    )
    typed = "".join(
        f'<Override PartName="/xl/worksheets/sheet{each}.xml" ContentType="{TYPE}.worksheet+xml"/>' for each in numbers
    )
    styles = f'<Relationship Id="rId0" Type="{OFFICE}/styles" Target="styles.xml"/>'
    book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
    yield "xl/workbook.xml", XML + book
    yield "xl/styles.xml", STYLES
    yield "xl/_rels/workbook.xml.rels", relationships(related + styles)
    yield "_rels/.rels", relationships(ROOT)
    yield "[Content_Types].xml", f'{XML}<Types xmlns="{PACKAGE}/content-types">{TYPES}{typed}</Types>'


def relationships(related: str) -> str:
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>'


FORMATS: Final = {
    "csv": Format("text/csv; charset=utf-8", as_csv),
    "xlsx": Format("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", as_xlsx),
}
