"""Draws parcels' labels, 10 x 15 cm or on A4."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm

from carriers.sandbox.corruption import NO_PDF
from carriers.sandbox.page import BOLD, HEIGHT_MM, MARGIN_MM, NOTICE, REGULAR, WIDTH_MM, Font, Page

PageFormat = Literal["10x15", "A4"]
TITLE: Font = (BOLD, 6)


@dataclass(frozen=True)
class Label:
    """The texts and numbers printed on a label."""

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
    _draw_barcode(page, label)
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


def _draw_barcode(page: Page, label: Label) -> None:
    barcode = Code128(label.tracking_number, barWidth=0.5 * mm, barHeight=20 * mm, quiet=0)
    barcode.drawOn(page.canvas, (WIDTH_MM * mm - barcode.width) / 2, 15.5 * mm)
    page.centred(11, label.tracking_number, (BOLD, 11))


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
