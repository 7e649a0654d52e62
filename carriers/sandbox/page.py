"""A PDF page drawn in millimetres, with the fonts that every PDF reader has."""

import io
from collections.abc import Sequence

from anyascii import anyascii
from reportlab import rl_config
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

WIDTH_MM, HEIGHT_MM, MARGIN_MM = 100, 150, 4  # of a label
NOTICE = "SANDBOX - NOT VALID FOR SHIPPING"
REGULAR, BOLD = "Helvetica", "Helvetica-Bold"
rl_config.useA85 = 0  # streams as they are, not as text, which takes a sixth of the time of drawing a label

Font = tuple[str, float]  # name and size in points
Point = tuple[float, float]


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
