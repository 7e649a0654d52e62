"""A bought label's PDFs as the service merges them, and what stands on pages."""

import io

from pypdf import PdfReader

from carriers import pdf
from carriers.shipment import PurchasedLabel


def merged(label: PurchasedLabel) -> bytes:
    pdfs = list(label.pdfs.values())
    return pdfs[0] if len(pdfs) == 1 else pdf.rewritten(pdfs, timeout_s=30)


def sizes(content: bytes) -> list[tuple[int, int]]:
    """Return each page's width and height in points."""
    boxes = [page.mediabox for page in PdfReader(io.BytesIO(content)).pages]
    return [(round(box.width), round(box.height)) for box in boxes]


def texts(content: bytes) -> list[str]:
    """Return each page's text."""
    return [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]
