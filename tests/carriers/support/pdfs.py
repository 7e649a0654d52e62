"""A bought label's PDFs as the service merges them."""

from carriers import pdf
from carriers.shipment import PurchasedLabel


def merged(label: PurchasedLabel) -> bytes:
    pdfs = list(label.pdfs.values())
    return pdfs[0] if len(pdfs) == 1 else pdf.rewritten(pdfs, timeout_s=30)
