"""The body of a request, and the header ``Ignored-Fields``: those of its fields that are not read, as JSON paths."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

from rest_framework.request import Request
from rest_framework.serializers import ListSerializer

from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import BODY_EMPTY
from shops.api.serializer_fields import ObjectSerializer

MAX_NAMED = 20
MAX_LENGTH = 100  # of a name: proxies take some kilobytes of headers
PLAIN = re.compile(r"[A-Za-z0-9.\[\]_-]")
IsNeeded = Callable[[str, Any], bool]  # of a declared field, by its path without indices and its value


def sent_body(request: Request) -> Any:
    """Return the parsed body; raise ApiError where none was sent, which to DRF is an empty form."""
    if request.stream is None:
        raise ApiError(BODY_EMPTY)
    return request.data


def ignored_header(body: Any, serializer: ObjectSerializer, is_needed: IsNeeded = lambda *_: True) -> dict[str, str]:
    """Return the header with the first MAX_NAMED paths, percent-encoded; nothing without one."""
    names = ", ".join(encoded(path) for path in islice(ignored(body, serializer, is_needed), MAX_NAMED))
    return {"Ignored-Fields": names} if names else {}


def ignored(value: Any, serializer: Any, is_needed: IsNeeded, path: str = "", declared: str = "") -> Iterator[str]:
    """Yield the ignored paths in the order of the body; `declared` is the path without indices, as for `is_needed`."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        known, own, without_index = serializer.fields.get(name), f"{path}{name}", f"{declared}{name}"
        if known is None or not (inner == "" or is_needed(without_index, inner)):
            yield own
        elif isinstance(known, ListSerializer) and isinstance(inner, list):
            for index, each in enumerate(inner):
                yield from ignored(each, known.child, is_needed, f"{own}[{index}].", f"{without_index}[].")
        elif isinstance(known, ObjectSerializer):
            yield from ignored(inner, known, is_needed, f"{own}.", f"{without_index}.")


def encoded(path: str) -> str:
    """Percent-encode all but letters, digits and ``.[]_-``; leave out the characters that a header has no room for."""
    text = ""
    for char in path[:MAX_LENGTH]:
        written = char if PLAIN.fullmatch(char) else quote(char, safe="").replace("~", "%7E")
        if len(text) + len(written) > MAX_LENGTH:
            break
        text += written
    return text
