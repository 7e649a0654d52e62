"""A multipart answer taken apart, as bytes: what is in a part may be anything."""

import re
from typing import Final

from carriers.messages import Answer, UnreadableError

MAX_PARTS: Final = 8
_BOUNDARY: Final = re.compile(r'boundary=(?:"([^"]{1,200})"|([^\s;,"]{1,200}))', re.IGNORECASE)


def is_multipart(answer: Answer) -> bool:
    """Whether the answer says that it has parts."""
    return answer.content_type.lower().startswith("multipart/")


def parts_by_id(answer: Answer) -> dict[str, bytes]:
    """The bytes of each part by its Content-ID, without the angle brackets; raises UnreadableError."""
    found = _BOUNDARY.search(answer.content_type)
    if not found:
        raise UnreadableError("multipart without a boundary")
    delimiter = b"\r\n--" + (found[1] or found[2]).encode("latin-1", "replace")
    # The first boundary may open the body without a line before it.
    _, *parts = (b"\r\n" + answer.body).split(delimiter, MAX_PARTS + 1)
    if not parts or not parts[-1].startswith(b"--"):
        raise UnreadableError("multipart cut short")
    return dict(_part(part) for part in parts[:-1])


def _part(part: bytes) -> tuple[str, bytes]:
    head, separator, body = part.partition(b"\r\n\r\n")
    if not separator:
        raise UnreadableError("multipart with a broken part")
    headers = dict(_header(line) for line in head.split(b"\r\n", MAX_PARTS)[1:])
    return headers.get("content-id", "").strip("<>"), body


def _header(line: bytes) -> tuple[str, str]:
    name, _, value = line.decode("latin-1").partition(":")
    return name.strip().lower(), value.strip()
