"""PDFs of labels: checked before they are accepted, and merged in a separate process."""

import io
import subprocess
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from zipfile import ZipFile

from carriers import pdf_merger
from carriers.http.transport import UnreadableError


def checked(pdf: bytes, name: str = "label") -> bytes:
    """Return the PDF if it starts like one, after a byte order mark and empty lines at most; raises UnreadableError.

    A label is paid for when it arrives, so the rest is passed on unchanged, even without a proper end: viewers open
    such files, while a refused label waits for a person. A truncated answer shows in its length, XML, base64 or
    boundary. The PDF is not parsed, because parsing is where a hostile one does harm.
    """
    bare = pdf.removeprefix(BOM_UTF8).lstrip()
    if not bare.startswith(b"%PDF-"):
        raise UnreadableError(f"the {name} is not a PDF")
    return bare


def rewritten(pdfs: Sequence[bytes], timeout_s: float) -> bytes:
    """Return the pages of all PDFs in a new one, without the files' scripts; raises UnreadableError.

    A crafted PDF can keep a parser busy for ever or exhaust the memory, and a thread cannot be stopped from outside.
    So a separate process parses them, and is killed at the timeout.
    """
    command, content = [sys.executable, "-I", pdf_merger.__file__], io.BytesIO()
    with ZipFile(content, "w") as archive:
        for rank, each in enumerate(pdfs):
            archive.writestr(str(rank), each)
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command,
            input=content.getvalue(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        raise UnreadableError("the labels cannot be merged") from None
    return checked(done.stdout)
