"""Labels as PDFs: checked before they are accepted, and joined where a hostile one can do no harm."""

import subprocess
import sys
from collections.abc import Sequence

from carriers import pdf_merger
from carriers.http.connections import Deadline
from carriers.http.messages import UnreadableError


def checked(pdf: bytes) -> bytes:
    """The PDF, if it begins like one; raises UnreadableError.

    A label is paid for when it comes, so it is handed on as it came, one without a proper end too: viewers open such
    files, while a refused label waits for a person. What was cut off on its way shows in what it came in: the length,
    the XML, the base64 or the boundary. Nothing is parsed: that is where a hostile PDF does its work.
    """
    if not pdf.startswith(b"%PDF-"):
        raise UnreadableError("the label is no PDF")
    return pdf


def joined(pdfs: Sequence[bytes], deadline: Deadline) -> bytes:
    """All pages of all PDFs in order, a single PDF as it came; raises UnreadableError."""
    if not pdfs:
        raise UnreadableError("there is no label")
    if len(pdfs) == 1:
        return pdfs[0]
    try:
        return rewritten(pdfs, deadline.remaining_s())
    except TimeoutError:
        raise UnreadableError("the labels cannot be joined") from None


def rewritten(pdfs: Sequence[bytes], timeout_s: float) -> bytes:
    """The pages of all PDFs in a new one, which leaves out the files' own scripts; raises UnreadableError.

    That takes parsing, and a crafted PDF can keep a parser busy for ever or make it eat all memory. No thread can be
    stopped from outside, so a process of its own does it, which ends with the time.
    """
    command = [sys.executable, "-I", pdf_merger.__file__]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command,
            input=pdf_merger.framed(pdfs),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        raise UnreadableError("the labels cannot be joined") from None
    return checked(done.stdout)
