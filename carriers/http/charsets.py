"""Texts in an encoding of one byte a character, read as UTF-8, which both protocols have."""

import re
from contextlib import suppress
from typing import Final

# They have ASCII in common.
ONE_BYTE: Final = re.compile(r"iso[-_]?8859[-_]\d{1,2}|latin-?1|(windows-|cp)125\d", re.IGNORECASE)
_NAMED: Final = re.compile(r""";\s*charset\s*=\s*["']?([\w.-]{1,40})""", re.IGNORECASE | re.ASCII)


def charset_of(content_type: str) -> str:
    """Return the charset that a media type names, empty without one."""
    named = _NAMED.search(content_type)
    return named[1] if named else ""


def as_utf_8(content: bytes, charset: str) -> bytes:
    """Return a text in UTF-8: from the declared encoding, if that is one of one byte a character and it is not yet.

    Anything else is returned unchanged, for the caller to refuse.
    """
    if not ONE_BYTE.fullmatch(charset):
        return content
    with suppress(UnicodeDecodeError):
        content.decode()
        return content
    with suppress(LookupError, UnicodeDecodeError):
        return content.decode(charset).encode()
    return content
