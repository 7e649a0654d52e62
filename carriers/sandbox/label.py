"""Draws the label of one parcel as a person expects it, 10 x 15 cm or on A4, and the customs form beside it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from anyascii import anyascii
from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

PageFormat = Literal["10x15", "A4"]
NOTICE = "SANDBOX - NOT VALID FOR SHIPPING"
WIDTH, HEIGHT = 100 * mm, 150 * mm
MARGIN = 4 * mm
REGULAR, BOLD = "Helvetica", "Helvetica-Bold"


@dataclass(frozen=True)
class Label:
    """What is printed on a label."""

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


def printable(text: str) -> str:
    """Fold letters that PDF's built-in fonts lack (Windows-1252 is what they have) to their nearest."""
    return "".join(char if char.encode("cp1252", "ignore") else anyascii(char) for char in text)


def label_pdf(label: Label) -> bytes:
    """Return a PDF of one page; the same label gives the same bytes."""
    is_a4 = label.page_format == "A4"
    canvas, content = _canvas(A4 if is_a4 else (WIDTH, HEIGHT), label.tracking_number)
    if is_a4:
        _draw_a4_surroundings(canvas)
        canvas.translate(10 * mm, A4[1] - HEIGHT - 10 * mm)
    _draw_head(canvas, label)
    _draw_addresses(canvas, label)
    _draw_facts(canvas, label)
    _draw_barcode(canvas, label)
    _draw_notice(canvas)
    canvas.rect(1 * mm, 1 * mm, WIDTH - 2 * mm, HEIGHT - 2 * mm)
    return _finished(canvas, content)


def customs_form_pdf(label: Label, articles: Sequence[str]) -> bytes:
    """Return a CN23 of one page."""
    canvas, content = _canvas(A4, f"CN23 {label.tracking_number}")
    _text(canvas, 20 * mm, 270 * mm, "CUSTOMS DECLARATION   CN23", 18, BOLD)
    _text(canvas, 20 * mm, 262 * mm, f"Parcel {label.tracking_number}   {label.weight_kg:.2f} kg", 11)
    _lines(canvas, 20 * mm, 248 * mm, ["FROM", *label.sender], 10)
    _lines(canvas, 110 * mm, 248 * mm, ["TO", *label.recipient], 10)
    _lines(canvas, 20 * mm, 195 * mm, ["CONTENTS", *articles], 10)
    _text(canvas, 20 * mm, 30 * mm, NOTICE, 14, BOLD)
    return _finished(canvas, content)


def _canvas(page_size: tuple[float, float], title: str) -> tuple[Canvas, io.BytesIO]:
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=page_size, invariant=1, pageCompression=1)
    canvas.setTitle(title)
    return canvas, content


def _finished(canvas: Canvas, content: io.BytesIO) -> bytes:
    canvas.showPage()
    canvas.save()
    return content.getvalue()


def _draw_head(canvas: Canvas, label: Label) -> None:
    canvas.rect(1 * mm, 130 * mm, WIDTH - 2 * mm, 19 * mm, fill=1)
    canvas.setFillGray(1)
    _text(canvas, MARGIN, 137 * mm, label.carrier.upper(), 26, BOLD)
    canvas.setFont(BOLD, 15)
    canvas.drawRightString(WIDTH - MARGIN, 141 * mm, printable(label.product_code))
    canvas.setFont(REGULAR, 9)
    canvas.drawRightString(WIDTH - MARGIN, 134 * mm, printable(label.product_name))
    canvas.setFillGray(0)


def _draw_addresses(canvas: Canvas, label: Label) -> None:
    _text(canvas, MARGIN, 126 * mm, "FROM", 6, BOLD)
    _lines(canvas, MARGIN, 122.5 * mm, label.sender, 7.5, WIDTH - 2 * MARGIN)
    canvas.line(1 * mm, 103 * mm, WIDTH - 1 * mm, 103 * mm)
    _text(canvas, MARGIN, 99 * mm, "TO", 6, BOLD)
    if label.pickup_point:
        _text(canvas, 40 * mm, 98.5 * mm, f"PICKUP POINT {label.pickup_point}", 10, BOLD)
    _lines(canvas, MARGIN, 93.5 * mm, label.recipient, 11, WIDTH - 2 * MARGIN, BOLD)
    if label.phone:
        _text(canvas, MARGIN, 62.5 * mm, f"Tel. {label.phone}", 8)


def _draw_facts(canvas: Canvas, label: Label) -> None:
    """Draw the row of boxes: where to, how heavy, which of how many; and the references."""
    canvas.rect(1 * mm, 46 * mm, WIDTH - 2 * mm, 14.5 * mm)
    for x_mm in (46, 72):
        canvas.line(x_mm * mm, 46 * mm, x_mm * mm, 60.5 * mm)
    boxes = (
        (MARGIN, "ROUTING", f"{label.recipient[-1]} {label.postal_code}", 19),
        (48 * mm, "WEIGHT", f"{label.weight_kg:.2f} kg", 13),
        (74 * mm, "PARCEL", f"{label.rank} / {label.count}", 13),
    )
    for x, title, value, size in boxes:
        _text(canvas, x, 57.5 * mm, title, 6, BOLD)
        _text(canvas, x, 49 * mm, value, _fitting(value, size, 40 * mm, BOLD), BOLD)
    _text(canvas, MARGIN, 41.5 * mm, f"Ref. {label.reference}", 8, BOLD)
    _text(canvas, MARGIN, 37.5 * mm, f"Order {label.order_reference}", 8)
    _text(canvas, 72 * mm, 37.5 * mm, label.ship_date, 8)


def _draw_barcode(canvas: Canvas, label: Label) -> None:
    barcode = Code128(label.tracking_number, barWidth=0.5 * mm, barHeight=20 * mm, quiet=0)
    barcode.drawOn(canvas, (WIDTH - barcode.width) / 2, 15.5 * mm)
    canvas.setFont(BOLD, 11)
    canvas.drawCentredString(WIDTH / 2, 11 * mm, label.tracking_number)


def _draw_notice(canvas: Canvas) -> None:
    canvas.rect(1 * mm, 1 * mm, WIDTH - 2 * mm, 7.5 * mm, fill=1)
    canvas.setFillGray(1)
    canvas.setFont(BOLD, 11.5)
    canvas.drawCentredString(WIDTH / 2, 3.3 * mm, NOTICE)
    canvas.setFillGray(0)


def _draw_a4_surroundings(canvas: Canvas) -> None:
    canvas.setDash(3, 3)
    canvas.line(0, A4[1] - HEIGHT - 20 * mm, A4[0], A4[1] - HEIGHT - 20 * mm)
    canvas.line(120 * mm, A4[1] - HEIGHT - 20 * mm, 120 * mm, A4[1])
    canvas.setDash()
    hints = ("Cut along the dashed lines.", "Put the label flat on the parcel's", "largest side, the barcode unfolded.")
    _lines(canvas, 128 * mm, A4[1] - 30 * mm, hints, 9)


def _lines(
    canvas: Canvas, x: float, top: float, lines: Sequence[str], size: float, width: float = 0, font: str = REGULAR
) -> None:
    """Draw lines downwards; one that is wider than `width` gets smaller, never shorter."""
    for rank, line in enumerate(filter(None, lines)):
        _text(canvas, x, top - rank * size * 1.2, line, _fitting(line, size, width, font), font)


def _text(canvas: Canvas, x: float, y: float, text: str, size: float, font: str = REGULAR) -> None:
    canvas.setFont(font, size)
    canvas.drawString(x, y, printable(text))


def _fitting(text: str, size: float, width: float, font: str) -> float:
    needed = float(stringWidth(printable(text), font, size))
    return size * width / needed if 0 < width < needed else size
