"""Draws the papers of parcels in millimetres: labels, 10 x 15 cm or on A4, and beta's customs declarations CN23."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anyascii import anyascii
from reportlab import rl_config
from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from carriers.sandbox.corruption import NO_PDF

WIDTH_MM, HEIGHT_MM, MARGIN_MM = 100, 150, 4  # of a label
NOTICE = "SANDBOX - NOT VALID FOR SHIPPING"
REGULAR, BOLD = "Helvetica", "Helvetica-Bold"
rl_config.useA85 = 0  # streams as they are, not as text, which takes a sixth of the time of drawing a label

Font = tuple[str, float]  # name and size in points
Point = tuple[float, float]
PageFormat = Literal["10x15", "A4"]
TITLE: Font = (BOLD, 6)


def printable(text: str) -> str:
    """Replace letters that PDF's built-in fonts lack (they have Windows-1252) with their nearest."""
    return "".join(char if char.encode("cp1252", "ignore") else anyascii(char) for char in text)


class Page:
    """A document whose points are in mm from the lower left corner of the page, or of the label on it."""

    def __init__(self, size: tuple[float, float], title: str) -> None:
        self._content = io.BytesIO()
        self.canvas = Canvas(self._content, pagesize=size, invariant=1, pageCompression=1)
        self.canvas.setTitle(title)

    def text(self, at: Point, text: str, font: Font) -> None:
        self.canvas.setFont(*font)
        self.canvas.drawString(at[0] * mm, at[1] * mm, printable(text))

    def fitted(self, at: Point, text: str, font: Font, width: float) -> None:
        """Draw a text, smaller but never cut when it is too wide."""
        name, size = font
        needed = stringWidth(printable(text), name, size) / mm
        self.text(at, text, (name, size * min(1, width / needed) if needed else size))

    def lines(self, top: Point, lines: Sequence[str], font: Font, width: float) -> None:
        for rank, line in enumerate(filter(None, lines)):
            self.fitted((top[0], top[1] - rank * font[1] * 1.2 / mm), line, font, width)

    def right(self, y: float, text: str, font: Font) -> None:
        """Draw white text that ends at the right margin."""
        self.canvas.setFont(*font)
        self.canvas.setFillGray(1)
        self.canvas.drawRightString((WIDTH_MM - MARGIN_MM) * mm, y * mm, printable(text))
        self.canvas.setFillGray(0)

    def centred(self, y: float, text: str, font: Font, *, is_white: bool = False) -> None:
        self.canvas.setFont(*font)
        self.canvas.setFillGray(1 if is_white else 0)
        self.canvas.drawCentredString(WIDTH_MM / 2 * mm, y * mm, text)
        self.canvas.setFillGray(0)

    def box(self, y: float, height: float, *, is_filled: bool = False) -> None:
        self.canvas.rect(1 * mm, y * mm, (WIDTH_MM - 2) * mm, height * mm, fill=int(is_filled))

    def line(self, start: Point, end: Point) -> None:
        self.canvas.line(start[0] * mm, start[1] * mm, end[0] * mm, end[1] * mm)

    def turn(self) -> None:
        """End this page and begin the next."""
        self.canvas.showPage()

    def finished(self) -> bytes:
        """Return the PDF; the page that was turned last is its last."""
        self.canvas.save()
        return self._content.getvalue()


@dataclass(frozen=True)
class Label:
    carrier: str
    tracking_number: str
    product_name: str
    product_code: str  # with the service, as the carrier prints it
    sender: Sequence[str]  # lines, the last one the country's code
    recipient: Sequence[str]
    phone: str
    postal_code: str
    pickup_point: str
    order_reference: str
    reference: str
    weight_kg: float
    rank: int
    count: int
    ship_date: str
    page_format: PageFormat
    customs: str = ""  # value and contents, as alpha prints them outside the EU
    instructions: str = ""  # words to beta's driver

    @property
    def printed(self) -> tuple[str, ...]:
        """Return the texts on the label, in the order of reading."""
        head = (self.product_code, *self.sender, *self.recipient, self.phone, self.routing, self.pickup_point)
        foot = (self.customs, self.instructions, self.reference, self.order_reference, self.tracking_number)
        return tuple(filter(None, head + foot))

    @property
    def routing(self) -> str:
        """Return the sort code, which the carrier makes from the recipient's country and postal code."""
        return f"{self.recipient[-1]} {self.postal_code}"


def label_pdf(*labels: Label) -> bytes:
    """Return a PDF of one page for each label, all of one size; the same labels give the same bytes."""
    is_a4 = labels[0].page_format == "A4"
    page = Page(A4 if is_a4 else (WIDTH_MM * mm, HEIGHT_MM * mm), labels[0].tracking_number)
    for label in labels:
        if is_a4:
            _draw_a4_surroundings(page)
        _draw(page, label)
        page.turn()
    return page.finished()


def _draw(page: Page, label: Label) -> None:
    _draw_head(page, label)
    _draw_addresses(page, label)
    _draw_facts(page, label)
    barcode = Code128(label.tracking_number, barWidth=0.5 * mm, barHeight=20 * mm, quiet=0)
    barcode.drawOn(page.canvas, (WIDTH_MM * mm - barcode.width) / 2, 15.5 * mm)
    page.centred(11, label.tracking_number, (BOLD, 11))
    page.box(1, 7.5, is_filled=True)
    page.centred(3.3, NOTICE, (BOLD, 11.5), is_white=True)
    page.box(1, HEIGHT_MM - 2)


def _draw_head(page: Page, label: Label) -> None:
    page.box(130, 19, is_filled=True)
    page.canvas.setFillGray(1)
    page.text((MARGIN_MM, 137), label.carrier.upper(), (BOLD, 26))
    page.right(141, label.product_code, (BOLD, 15))
    page.right(134, label.product_name, (REGULAR, 9))


def _draw_addresses(page: Page, label: Label) -> None:
    page.text((MARGIN_MM, 126), "FROM", TITLE)
    page.lines((MARGIN_MM, 122.5), label.sender, (REGULAR, 6.5), WIDTH_MM - 2 * MARGIN_MM)
    page.line((1, 103), (WIDTH_MM - 1, 103))
    page.text((MARGIN_MM, 99), "TO", TITLE)
    if label.pickup_point:
        page.text((40, 98.5), f"PICKUP POINT {label.pickup_point}", (BOLD, 10))
    page.lines((MARGIN_MM, 94), label.recipient, (BOLD, 9.5), WIDTH_MM - 2 * MARGIN_MM)
    if label.phone:
        page.text((MARGIN_MM, 62.5), f"Tel. {label.phone}", (REGULAR, 8))
    if label.instructions:
        page.fitted((40, 62.5), label.instructions, (BOLD, 8), WIDTH_MM - MARGIN_MM - 40)


def _draw_facts(page: Page, label: Label) -> None:
    """Draw the row of boxes (routing, weight, rank among the parcels) and the references."""
    page.box(46, 14.5)
    page.line((46, 46), (46, 60.5))
    page.line((72, 46), (72, 60.5))
    boxes = (
        (MARGIN_MM, "ROUTING", label.routing, 19.0, 40.0),
        (48, "WEIGHT", f"{label.weight_kg:.2f} kg", 13.0, 23.0),
        (74, "PARCEL", f"{label.rank} / {label.count}", 13.0, 23.0),
    )
    for x, title, value, size, width in boxes:
        page.text((x, 57.5), title, TITLE)
        page.fitted((x, 49), value, (BOLD, size), width)
    page.text((MARGIN_MM, 41.5), f"Ref. {label.reference}", (BOLD, 8))
    page.text((MARGIN_MM, 37.5), f"Order {label.order_reference}", (REGULAR, 8))
    page.text((74, 37.5), label.ship_date, (REGULAR, 8))
    if label.customs:
        page.fitted((40, 62.5), label.customs, (BOLD, 8), WIDTH_MM - MARGIN_MM - 40)


def _draw_a4_surroundings(page: Page) -> None:
    """Draw the cutting lines and hints, and move the label's corner into the sheet."""
    page.canvas.translate(10 * mm, A4[1] - (HEIGHT_MM + 10) * mm)
    page.canvas.setDash(3, 3)
    page.line((-10, -10), (200, -10))
    page.line((WIDTH_MM + 10, -10), (WIDTH_MM + 10, HEIGHT_MM + 10))
    page.canvas.setDash()
    hints = ("Cut along the dashed lines.", "Put the label flat on the parcel's", "largest side, the barcode unfolded.")
    page.lines((WIDTH_MM + 18, HEIGHT_MM - 20), hints, (REGULAR, 9), 70)


def faulty_pdf(fault: str, *labels: Label) -> bytes | None:
    """Return the labels' PDF; under the fault `nolabel` None, under `notpdf` other bytes."""
    if fault == "nolabel":
        return None
    return NO_PDF if fault == "notpdf" else label_pdf(*labels)


@dataclass(frozen=True)
class CustomsForm:
    """The facts that were declared, as the form prints them."""

    facts: Sequence[str]  # postage, EORI, invoice and the like, a line each
    articles: Sequence[str]
    copies: int

    @property
    def printed(self) -> tuple[str, ...]:
        return (*self.facts, *self.articles)


def customs_form_pdf(label: Label, form: CustomsForm) -> bytes:
    """Return a PDF of A4 pages, one for each copy."""
    page = Page(A4, f"CN23 {label.tracking_number}")
    for copy in range(1, form.copies + 1):
        page.text((20, 270), "CUSTOMS DECLARATION   CN23", (BOLD, 18))
        page.text((20, 262), f"Parcel {label.tracking_number}   {label.weight_kg:.2f} kg", (REGULAR, 11))
        page.text((160, 262), f"Copy {copy} of {form.copies}", (REGULAR, 11))
        page.lines((20, 248), ["FROM", *label.sender], (REGULAR, 10), 80)
        page.lines((110, 248), ["TO", *label.recipient], (REGULAR, 10), 80)
        page.lines((20, 200), form.facts, (REGULAR, 10), 170)
        page.lines((20, 150), ["CONTENTS", *form.articles], (REGULAR, 10), 170)
        page.text((20, 30), NOTICE, (BOLD, 14))
        page.turn()
    return page.finished()
