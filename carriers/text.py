"""Text as a carrier takes it: the letters it knows, in lines of its length, and never a silent cut.

Letters of other scripts are refused for both carriers. Turning them into Latin ones is a guess (one character
has a Chinese and a Japanese reading), and a guessed address on a paid parcel is worse than an error.
"""

import re
import textwrap
import unicodedata
from dataclasses import dataclass
from typing import Final

from anyascii import anyascii

from carriers.errors import AddressRejected, CarrierError

# What a keyboard or a shop's form makes of plain punctuation: quotes, apostrophes and dashes.
_PLAIN: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bb\u02bc", "'")
    | dict.fromkeys("\u201c\u201d\u201e", '"')
    | dict.fromkeys("\u2010\u2011\u2013\u2014", "-")
)
_LAST_LATIN_1: Final = "\xff"
_FRACTION_SLASH: Final = "\u2044"
_ORDINALS: Final = "ªº"  # Latin letters by script, though not by name
_SYMBOLS: Final = re.compile(r"[^A-Za-z0-9 ]")


@dataclass(frozen=True)
class Slot:
    """Where a text goes: for which carrier, from which field of the API, and how long it may be."""

    carrier: str
    field: str
    limit: int
    error: type[CarrierError] = AddressRejected

    def refuse(self, problem: str) -> CarrierError:
        """The error that names the field."""
        return self.error(self.carrier, problem, field=self.field)


def _is_latin(letter: str) -> bool:
    return letter in _ORDINALS or "LATIN" in unicodedata.name(letter, "").split()


def _plain(char: str) -> str:
    """Other forms of Latin letters and digits (ʳ, ⁴, the bold of mathematics) as those; a fraction stays as it is."""
    if char <= _LAST_LATIN_1 or not char.isalnum() or _is_latin(char):
        return char
    plain = unicodedata.normalize("NFKC", char)
    return char if _FRACTION_SLASH in plain else plain


def _checked(text: str, slot: Slot) -> str:
    """Plain punctuation, composed letters and single spaces, without what nobody can see."""
    composed = unicodedata.normalize("NFC", "".join(map(_plain, text.translate(_PLAIN))))
    spaced = " ".join(composed.split())
    shown = "".join(char for char in spaced if unicodedata.category(char)[0] != "C")
    visible = " ".join(shown.split())
    if any(char.isalpha() and not _is_latin(char) for char in visible):
        raise slot.refuse("only Latin letters can be printed")
    return visible


def to_ascii(text: str, slot: Slot) -> str:
    """ASCII letters, digits, spaces: accents and ligatures spelled out, `/` a space, symbols dropped."""
    return " ".join("".join(_ascii(char) for char in _checked(text, slot)).split())


def _ascii(char: str) -> str:
    if char == "/":
        return " "
    if char == " " or not unicodedata.category(char).startswith(("L", "N")):
        return char if char == " " else ""
    spelled = anyascii(char)
    if "/" in spelled:  # a fraction, which must not run into the number before it
        return " " + spelled.replace("/", " ")
    return _SYMBOLS.sub("", spelled)


def to_latin(text: str, slot: Slot) -> str:
    """Latin text as it is; refuses characters that the carrier has no glyph for."""
    checked = _checked(text, slot)
    if any(char > _LAST_LATIN_1 and not _is_latin(char) for char in checked):
        raise slot.refuse("only Latin letters, digits and plain punctuation can be printed")
    return checked


def fitting(text: str, slot: Slot) -> str:
    """The text, if it is as short as it must be."""
    if len(text) > slot.limit:
        raise slot.refuse(f"is longer than the {slot.limit} characters that {slot.carrier} prints")
    return text


def required(text: str, slot: Slot) -> str:
    """The text, if there is any left and it is as short as it must be."""
    if not text:
        raise slot.refuse(f"holds no text that {slot.carrier} can print")
    return fitting(text, slot)


def wrapped(text: str, slot: Slot, lines: int) -> list[str]:
    """Fold a text at its spaces over at most so many lines of the slot's length."""
    folded = textwrap.wrap(text, slot.limit, break_long_words=False, break_on_hyphens=False)
    if len(folded) > lines or any(len(line) > slot.limit for line in folded):
        raise slot.refuse(f"does not fit into {lines} lines of {slot.limit} characters")
    return folded
