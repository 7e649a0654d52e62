"""A program that joins the PDFs on its standard input, within limits of memory and time that it sets itself.

It is run as a file, apart from the package, so it imports nothing of it.
"""

import io
import resource
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Final

MAX_MEMORY_BYTES: Final = 512 * 1024 * 1024
MAX_CPU_S: Final = 30  # should nobody be left to end it
MAX_OUTPUT_BYTES: Final = 40 * 1024 * 1024
_LENGTH: Final = struct.Struct(">Q")


def framed(pdfs: Sequence[bytes]) -> bytes:
    """The input of this program: each PDF behind its length."""
    return b"".join(_LENGTH.pack(len(pdf)) + pdf for pdf in pdfs)


def _unframed(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        yield data[position : position + length]
        position += length


def _joined(pdfs: Iterator[bytes]) -> bytes:
    # Imported here, so that the service, which only needs `framed`, does not load it.
    from pypdf import PdfReader, PdfWriter  # noqa: PLC0415 - see above

    writer = PdfWriter()
    for pdf in pdfs:
        pages = PdfReader(io.BytesIO(pdf)).pages
        if len(pages) == 0:
            raise ValueError("a PDF without a page")
        for page in pages:
            writer.add_page(page)
    output = io.BytesIO()
    writer.write(output)
    if output.tell() > MAX_OUTPUT_BYTES:
        raise ValueError("the joined PDF is too large")
    return output.getvalue()


def main() -> None:
    """Read, join, write."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    sys.stdout.buffer.write(_joined(_unframed(sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
