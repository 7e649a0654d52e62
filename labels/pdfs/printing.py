"""One PDF of many labels: read from the storage by several threads, merged in their order by a separate process."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from carriers import pdf
from carriers.http.transport import UnreadableError
from carriers.pdf_merger import MAX_OUTPUT_BYTES
from labels.models import ShippingLabel
from labels.pdfs import storage, unmerged
from shops.api.concurrency import ConcurrencyLimit

MAX_LABELS = 500
MERGING_TIMEOUT_S = 30.0


class PrintingError(Exception):
    """Nothing is printed; `str()` says why, in the language of staff, which readers' threads don't know."""


# One at a time in a process: a print takes up to 200 MB of memory, and the merger as much.
prints = ConcurrencyLimit(1, lambda: PrintingError(_("Another print is being made. Try again in some seconds.")))


def printed(labels: Sequence[ShippingLabel]) -> bytes:
    """Return the pages of all labels in their order; raise PrintingError.

    Each has a PDF, and those of the state `received` have it in `pdf`.
    """
    try:
        with prints.hold():
            pdfs = [part for content in contents(labels) for part in unmerged.parts(content).values()]
            return pdf.rewritten(pdfs, MERGING_TIMEOUT_S)
    except storage.StorageError:
        text = _("The storage can't be reached now. The PDFs are safe there; try again later.")
        raise PrintingError(text) from None
    except UnreadableError:
        raise PrintingError(_("One of these PDFs can't be read. Print fewer, or open the labels one by one.")) from None


def contents(labels: Sequence[ShippingLabel]) -> list[bytes]:
    """Read the labels' PDFs as long as they fit into one that can be merged; raise PrintingError."""
    left, lock = MAX_OUTPUT_BYTES, Lock()

    def read(label: ShippingLabel) -> bytes:
        nonlocal left
        content = bytes(label.pdf) if label.pdf is not None else storage.read(label.pdf_key)
        if content is None:
            text = _("The PDF of {id} is not in the storage. Print the others without it.")
            raise PrintingError(format_lazy(text, id=label.id))
        with lock:
            left -= len(content)
            if left < 0:
                text = _("These PDFs are more than {size} MiB. Print fewer.")
                raise PrintingError(format_lazy(text, size=MAX_OUTPUT_BYTES // 1024**2))
        return content

    pool = ThreadPoolExecutor(min(storage.READERS, len(labels)))
    try:
        return list(pool.map(read, labels))
    finally:
        pool.shutdown(cancel_futures=True)
