"""One PDF of many labels: read from the storage by several threads, merged in their order by a separate process."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from carriers import pdf
from carriers.http.messages import UnreadableError
from carriers.pdf_merger import MAX_OUTPUT_BYTES
from labels.models import ShippingLabel
from labels.pdfs import storage, unmerged
from shops.api.concurrency import ConcurrencyLimit

MAX_LABELS = 500
READERS = 8  # an object store answers within some milliseconds, of which nearly all are waiting
MERGING_TIMEOUT_S = 30.0


class PrintingError(Exception):
    """Nothing is printed; `str()` says why, for staff."""


# One at a time in a process: a print takes up to 200 MB of memory, and the merger as much.
prints = ConcurrencyLimit(1, lambda: PrintingError("Another print is being made. Try again in some seconds."))


class Reader:
    """Reads PDFs as long as they fit into one that can be merged."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.left = MAX_OUTPUT_BYTES
        self.stored = storage.reader()

    def read(self, label: ShippingLabel) -> bytes:
        content = bytes(label.pdf) if label.pdf is not None else self.stored(label.pdf_key)
        if content is None:
            raise PrintingError(f"The PDF of {label.id} is not in the storage. Print the others without it.")
        with self.lock:
            self.left -= len(content)
            if self.left < 0:
                raise PrintingError(f"These PDFs are more than {MAX_OUTPUT_BYTES // 1024**2} MiB. Print fewer.")
        return content


def printed(labels: Sequence[ShippingLabel]) -> bytes:
    """Return the pages of all labels in their order; raise PrintingError.

    Each has a PDF, and those of the state `received` have it in `pdf`.
    """
    try:
        with prints.hold():
            pdfs = [part for content in contents(labels) for part in unmerged.parts(content).values()]
            return pdf.rewritten(pdfs, MERGING_TIMEOUT_S)
    except storage.StorageError:
        raise PrintingError("The storage can't be reached now. The PDFs are safe there; try again later.") from None
    except UnreadableError:
        raise PrintingError("One of these PDFs can't be read. Print fewer, or open the labels one by one.") from None


def contents(labels: Sequence[ShippingLabel]) -> list[bytes]:
    reader = Reader()
    pool = ThreadPoolExecutor(min(READERS, len(labels)))
    try:
        return list(pool.map(reader.read, labels))
    finally:
        pool.shutdown(cancel_futures=True)
