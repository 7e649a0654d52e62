"""Texts in an encoding of one byte a character, read as UTF-8, which both protocols have."""

import re
from contextlib import suppress
from typing import Final

# They have ASCII in common. The first is Latin-1, which often has Windows' quotes: browsers read it as windows-1252.
ONE_BYTE: Final = re.compile(
    r"(iso[-_]?8859[-_]1|latin-?1)|iso[-_]?8859[-_]\d{1,2}|(windows-|cp)125\d", re.IGNORECASE | re.ASCII
)
_NAMED: Final = re.compile(r""";\s*charset\s*=\s*["']?([\w.-]{1,40})""", re.IGNORECASE | re.ASCII)


def charset_of(content_type: str) -> str:
    """Return the charset that a media type names, empty without one."""
    named = _NAMED.search(content_type)
    return named[1] if named else ""


def as_utf_8(content: bytes, charset: str) -> bytes:
    """Return a text in UTF-8: from the declared encoding, if that is one of one byte a character and it is not yet.

    A byte that is no character is replaced. Anything else is returned unchanged, for the caller to refuse.
    """
    one_byte = ONE_BYTE.fullmatch(charset)
    if not one_byte:
        return content
    with suppress(UnicodeDecodeError):
        content.decode()
        return content
    with suppress(LookupError):
        return content.decode("windows-1252" if one_byte[1] else charset, "replace").encode()
    return content
