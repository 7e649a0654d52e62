"""A program that merges the PDFs in the ZIP file on its standard input, within memory and CPU limits of its own.

It runs as a file, outside the package, so it imports nothing from it.
"""

import io
import resource
import sys
from collections.abc import Iterable
from typing import Any, Final
from zipfile import ZipFile

MAX_MEMORY_BYTES: Final = 512 * 1024 * 1024
MAX_CPU_S: Final = 30  # in case the parent has died
MAX_OUTPUT_BYTES: Final = 40 * 1024 * 1024
END: Final = b"%%EOF"


def _merged(pdfs: Iterable[bytes]) -> bytes:
    # Imported here, because the service only needs the limit.
    from pypdf import PdfReader, PdfWriter  # noqa: PLC0415 - see above

    writer = PdfWriter()
    for pdf in pdfs:
        # The reader gives up on a PDF whose last line is missing; viewers open it.
        end = END if pdf.rfind(END) < pdf.rfind(b"startxref") else b""
        pages = PdfReader(io.BytesIO(pdf + end)).pages
        if len(pages) == 0:
            raise ValueError("a PDF without a page")
        for page in pages:
            writer.add_page(without_actions(page))
    output = io.BytesIO()
    writer.write(output)
    if output.tell() > MAX_OUTPUT_BYTES:
        raise ValueError("the merged PDF is too large")
    return output.getvalue()


def without_actions(page: Any) -> Any:
    """Remove what a page and its annotations do, which may be a script; what an annotation shows stays."""
    annotations = page.get("/Annots", page).get_object()  # none, as for null, where it is no list
    for each in (page, *(annotations if isinstance(annotations, list) else ())):
        if isinstance(held := each.get_object(), dict):
            for name in ("/A", "/AA"):
                held.pop(name, None)
    return page


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    with ZipFile(io.BytesIO(sys.stdin.buffer.read())) as archive:
        sys.stdout.buffer.write(_merged(map(archive.read, archive.namelist())))


if __name__ == "__main__":
    main()
