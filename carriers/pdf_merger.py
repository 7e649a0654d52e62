"""A program that merges the PDFs on its standard input, within memory and CPU limits that it sets itself.

It runs as a file, outside the package, so it imports nothing from it.
"""

import io
import resource
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Final

MAX_MEMORY_BYTES: Final = 512 * 1024 * 1024
MAX_CPU_S: Final = 30  # in case the parent has died
MAX_OUTPUT_BYTES: Final = 40 * 1024 * 1024
_LENGTH: Final = struct.Struct(">Q")


def framed(pdfs: Sequence[bytes]) -> bytes:
    """Return this program's input: each PDF after its length."""
    return b"".join(_LENGTH.pack(len(pdf)) + pdf for pdf in pdfs)


def _unframed(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        yield data[position : position + length]
        position += length


def _merged(pdfs: Iterator[bytes]) -> bytes:
    # Imported here, because the service only needs `framed`.
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
        raise ValueError("the merged PDF is too large")
    return output.getvalue()


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    sys.stdout.buffer.write(_merged(_unframed(sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
