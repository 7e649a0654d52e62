"""The header ``Ignored-Fields``: the fields of a body that are not read, as JSON paths."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any
from urllib.parse import quote

from shops.api.serializer_fields import ObjectSerializer

MAX_NAMED = 20
MAX_LENGTH = 100  # of a name: proxies take some kilobytes of headers
PLAIN = re.compile(r"[A-Za-z0-9.\[\]_-]")


def header(paths: Iterable[str]) -> dict[str, str]:
    """Return the header with the first MAX_NAMED paths, percent-encoded; nothing without one."""
    names = ", ".join(encoded(path) for path in islice(paths, MAX_NAMED))
    return {"Ignored-Fields": names} if names else {}


def header_of(body: Any, serializer: ObjectSerializer) -> dict[str, str]:
    """Return the header of an object of plain fields."""
    return header(name for name in body if name not in serializer.fields) if isinstance(body, dict) else {}


def encoded(path: str) -> str:
    """Percent-encode all but letters, digits and ``.[]_-``; leave out the characters that a header has no room for."""
    text = ""
    for char in path[:MAX_LENGTH]:
        written = char if PLAIN.fullmatch(char) else quote(char, safe="").replace("~", "%7E")
        if len(text) + len(written) > MAX_LENGTH:
            break
        text += written
    return text
