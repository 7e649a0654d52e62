"""Labels as PDFs: looked at before they are believed, and joined where nothing of theirs can do harm."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from carriers import pdf_joiner
from carriers.connections import Deadline
from carriers.messages import UnreadableError

_TAIL_BYTES: Final = 1024  # where readers look for a PDF's end


def checked(pdf: bytes) -> bytes:
    """The PDF, if it begins and ends like one; raises UnreadableError.

    Nothing more is parsed: a label is handed on as it came, and parsing is where a hostile PDF does its work.
    """
    if not pdf.startswith(b"%PDF-") or b"%%EOF" not in pdf[-_TAIL_BYTES:]:
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
    command = [sys.executable, "-I", pdf_joiner.__file__]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command,
            input=pdf_joiner.framed(pdfs),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        raise UnreadableError("the labels cannot be joined") from None
    return checked(done.stdout)
