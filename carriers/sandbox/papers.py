"""Draws the papers of parcels in millimetres: labels, 10 x 15 cm or on A4, and beta's customs declarations CN23."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anyascii import anyascii
from reportlab import rl_config
from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from carriers.sandbox.corruption import NO_PDF
from carriers.sandbox.data import rows

WIDTH_MM, HEIGHT_MM, MARGIN_MM = 100, 150, 4  # of a label
NOTICE = "SANDBOX - NOT VALID FOR SHIPPING"
REGULAR, BOLD = "Helvetica", "Helvetica-Bold"
rl_config.useA85 = 0  # streams as they are, not as text, which takes a sixth of the time of drawing a label

Font = tuple[str, float]  # name and size in points
Point = tuple[float, float]
PageFormat = Literal["A4", "10x15", "10x12", "10x10"]
SIZES_MM: dict[PageFormat, Point] = {"A4": (210, 297), "10x15": (100, 150), "10x12": (100, 120), "10x10": (100, 100)}
# Of a label: the boxes, from y on and so high, of which some are filled; the lines; and the texts, in mm.
BOXES = ((130.0, 19.0, True), (46.0, 14.5, False), (1.0, 7.5, True), (1.0, HEIGHT_MM - 2, False))
LINES = ((1.0, 103.0, 99.0, 103.0), (46.0, 46.0, 46.0, 60.5), (72.0, 46.0, 72.0, 60.5))
TEXTS = rows("label_texts.csv")


def printable(text: str) -> str:
    """Replace letters that PDF's built-in fonts lack (they have Windows-1252) with their nearest."""
    return "".join(char if char.encode("cp1252", "ignore") else anyascii(char) for char in text)


class Page:
    """A document whose points are in mm from the lower left corner of the page, or of the label on it."""

    def __init__(self, size: tuple[float, float], title: str) -> None:
        self._content = io.BytesIO()
        self.canvas = Canvas(self._content, pagesize=size, invariant=1, pageCompression=1)
        self.canvas.setTitle(title)

    def text(self, at: Point, text: str, font: Font, width: float = 0, align: str = "Left") -> None:
        """Draw a text, smaller but never cut when it is wider than it may be; `align` says where in it `at` is."""
        (name, size), shown = font, printable(text)
        needed = stringWidth(shown, name, size) / mm if width else 0
        self.canvas.setFont(name, size * min(1, width / needed) if needed else size)
        draw = {"Left": self.canvas.drawString, "Right": self.canvas.drawRightString}
        draw.get(align, self.canvas.drawCentredString)(at[0] * mm, at[1] * mm, shown)

    def lines(self, top: Point, lines: Sequence[str], font: Font, width: float) -> None:
        for rank, line in enumerate(filter(None, lines)):
            self.text((top[0], top[1] - rank * font[1] * 1.2 / mm), line, font, width)

    def finished(self) -> bytes:
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
    width_mm, height_mm = SIZES_MM[labels[0].page_format]
    page = Page((width_mm * mm, height_mm * mm), labels[0].tracking_number)
    for label in labels:
        if height_mm > HEIGHT_MM:
            page.canvas.translate(10 * mm, (height_mm - HEIGHT_MM - 10) * mm)  # the label's corner, in the sheet
        elif height_mm < HEIGHT_MM:
            page.canvas.scale(height_mm / HEIGHT_MM, height_mm / HEIGHT_MM)
        _draw(page, label)
        page.canvas.showPage()
    return page.finished()


def _draw(page: Page, label: Label) -> None:
    for y, height, is_filled in BOXES:
        page.canvas.rect(1 * mm, y * mm, (WIDTH_MM - 2) * mm, height * mm, fill=int(is_filled))
    for start_x, start_y, end_x, end_y in LINES:
        page.canvas.line(start_x * mm, start_y * mm, end_x * mm, end_y * mm)
    barcode = Code128(label.tracking_number, barWidth=0.5 * mm, barHeight=20 * mm, quiet=0)
    barcode.drawOn(page.canvas, (WIDTH_MM * mm - barcode.width) / 2, 15.5 * mm)
    page.lines((MARGIN_MM, 122.5), label.sender, (REGULAR, 6.5), WIDTH_MM - 2 * MARGIN_MM)
    page.lines((MARGIN_MM, 94), label.recipient, (BOLD, 9.5), WIDTH_MM - 2 * MARGIN_MM)
    facts = vars(label) | {"carrier": label.carrier.upper(), "routing": label.routing, "notice": NOTICE}
    for row in TEXTS:
        if not row["needs"] or facts[row["needs"]]:
            at, font = (float(row["x"]), float(row["y"])), (row["font"], float(row["size"]))
            text, width = row["text"].format(**facts), float(row["width"] or 0)
            page.canvas.setFillGray(int(row["is_white"] or 0))
            page.text(at, text, font, width, row["align"])


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
    page_format: PageFormat


def customs_form_pdf(label: Label, form: CustomsForm) -> bytes:
    """Return a PDF of a page for each copy, drawn as on A4 and scaled to the form's format."""
    size_mm = SIZES_MM[form.page_format]
    page = Page((size_mm[0] * mm, size_mm[1] * mm), f"CN23 {label.tracking_number}")
    scale = min(own / whole for own, whole in zip(size_mm, SIZES_MM["A4"], strict=True))
    for copy in range(1, form.copies + 1):
        page.canvas.scale(scale, scale)
        page.text((20, 270), "CUSTOMS DECLARATION   CN23", (BOLD, 18))
        page.text((20, 262), f"Parcel {label.tracking_number}   {label.weight_kg:.2f} kg", (REGULAR, 11))
        page.text((160, 262), f"Copy {copy} of {form.copies}", (REGULAR, 11))
        page.lines((20, 248), ["FROM", *label.sender], (REGULAR, 10), 80)
        page.lines((110, 248), ["TO", *label.recipient], (REGULAR, 10), 80)
        page.lines((20, 200), form.facts, (REGULAR, 10), 170)
        page.lines((20, 150), ["CONTENTS", *form.articles], (REGULAR, 10), 170)
        page.text((20, 30), NOTICE, (BOLD, 14))
        page.canvas.showPage()
    return page.finished()
