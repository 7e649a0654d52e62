"""Parsing of multipart answers into bytes, as a part may hold anything."""

import base64
import re
from collections.abc import Sequence
from contextlib import suppress
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Final

from carriers.http.transport import Answer, UnreadableError, as_utf_8, charset_of

MAX_PARTS: Final = 8
MAX_HEADER_LENGTH: Final = 1000  # also of all headers of a part
STARTS: Final = (b"{", b"%PDF-")  # of the parts that are looked for
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_DELIMITER_END: Final = re.compile(rb"--|[ \t]*(?:\r?\n|\Z)")


def is_multipart(answer: Answer) -> bool:
    """Return whether the answer is declared as multipart, and is no JSON."""
    return answer.content_type.lower().startswith("multipart/") and not answer.body.lstrip().startswith(b"{")


def parts_by_id(answer: Answer, expected: Sequence[str]) -> dict[str, bytes]:
    """Return the bytes of each part by its Content-ID, without the angle brackets; raises UnreadableError.

    Lines may end without a carriage return. A part without a boundary after it was truncated: it is left out, as is
    a part whose headers have no end. The other parts are kept, the first of each id. Parts without one, JSON first and
    then PDFs, have those of the `expected` ids that no other has, in their order.
    """
    parts = _split(answer.body, b"--" + _boundary(answer.content_type))
    found = [named for part in parts[1:] if (named := _part(part))]
    by_id = {id_: body for id_, body in reversed(found) if id_}
    nameless = [body for id_, body in found if not id_]
    nameless.sort(key=lambda body: [not body.lstrip().startswith(start) for start in STARTS])
    return by_id | dict(zip((id_ for id_ in expected if id_ not in by_id), nameless, strict=False))


def _split(body: bytes, delimiter: bytes) -> list[bytes]:
    """Return the preamble and the parts, each of which ends before a delimiter at the start of a line."""
    parts: list[bytes] = []
    start, found = 0, -1
    while len(parts) <= MAX_PARTS and (found := body.find(delimiter, found + 1)) >= 0:
        end = found + len(delimiter)
        if (found == 0 or body[found - 1 : found] == b"\n") and _DELIMITER_END.match(body, end):
            parts.append(body[start:found].removesuffix(b"\n").removesuffix(b"\r"))
            start = end
    return parts


def _boundary(content_type: str) -> bytes:
    if len(content_type) > MAX_HEADER_LENGTH:
        raise UnreadableError("the multipart answer has too long a header")
    header = Message()
    header["Content-Type"] = content_type
    boundary = header.get_boundary()
    if not boundary:
        raise UnreadableError("the multipart answer names no boundary")
    return boundary.encode("latin-1", "replace")


def _part(part: bytes) -> tuple[str, bytes] | None:
    end = _HEAD_END.search(part, 0, MAX_HEADER_LENGTH)
    if end is None:
        return None
    head = BytesHeaderParser().parsebytes(part[: end.start()].lstrip())
    body = part[end.end() :]
    if str(head.get("Content-Transfer-Encoding", "")).strip().lower() == "base64":
        with suppress(ValueError):  # what is no base64 is left as it is, for the caller to refuse
            body = base64.b64decode(b"".join(body.split()), validate=True)
    if head.get_content_type() == "application/json":
        body = as_utf_8(body, charset_of(str(head["Content-Type"])))
    return str(head.get("Content-ID", "")).strip().strip('"<>'), body
