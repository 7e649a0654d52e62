"""Text in the form that a carrier prints: its letters, in lines of its length, never truncated silently.

Letters of other scripts are spelled out for alpha, as its page has it, and refused for beta, as beta does.
"""

import re
import string
import textwrap
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Final

from anyascii import anyascii

from carriers.errors import AddressRejected, CarrierError

# What may stand around a value in an answer: spaces of any kind, and byte order marks.
BLANKS: Final = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\ufeff"
# Typographic apostrophes, dashes and quotes, as keyboards and web forms write them.
_APOSTROPHES: Final = "\u2018\u2019\u02bb\u02bc"  # two of them are letters to Unicode
_MARKS: Final = str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys("\u2010\u2011\u2013\u2014", "-"))
_PLAIN: Final = _MARKS | str.maketrans(dict.fromkeys("\u201c\u201d\u201e", '"'))
_LAST_LATIN_1: Final = "\xff"
_PRINTABLE_LATIN_1: Final = re.compile(r"[ -~\xa1-\xac\xae-\xb4\xb6-\xff]*")  # without \xb5, a Greek letter to Unicode
_FRACTION_SLASH: Final = "\u2044"
_ORDINALS: Final = "ªº"  # Latin letters by script, though not by name
_SYMBOLS: Final = re.compile(r"[^A-Za-z0-9]")
_LOOSE_HYPHENS: Final = re.compile(r"(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])")
# The mark of a long vowel, which Japanese addresses have for a hyphen between numbers.
_LONG_VOWEL_AS_HYPHEN: Final = re.compile(r"(?<=\d)[\u30fc\uff70](?=\d)")
_NUMBER: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_MAX_COMPOSED: Final = 400  # characters, more than any text that is printed: sorting accents takes a square of them
_MAX_REMEMBERED: Final = 10_000  # characters; a text may have any of a million


@dataclass(frozen=True)
class CarrierField:
    """A field of a carrier's message: the API's field it is filled from, its length, its error."""

    carrier: str
    path: str
    max_length: int
    error_class: type[CarrierError] = AddressRejected

    def error(self, problem: str) -> CarrierError:
        """Return the error that names the API's field."""
        return self.error_class(self.carrier, problem, field=self.path)


def _is_latin(char: str) -> bool:
    """Return whether it is ASCII or a Latin letter, none of their wide and raised variants and no symbol."""
    is_plain = char.isalpha() and unicodedata.name(char, "").startswith("LATIN ")
    return char.isascii() or char in _ORDINALS or is_plain


def _plain(char: str) -> str:
    """Replace variants of Latin letters and digits (ʳ, ⁴, mathematical bold) by plain ones; keep fractions."""
    if char <= _LAST_LATIN_1 or not char.isalnum() or _is_latin(char):
        return char
    plain = unicodedata.normalize("NFKC", char)
    return char if _FRACTION_SLASH in plain else plain


@lru_cache(_MAX_REMEMBERED)
def _spelled(char: str, kept: str) -> str:
    """Spell a character, unless it is one of those `kept`, in ASCII letters: accents, ligatures, other scripts.

    Symbols become spaces; invisible characters and accents without a letter vanish.
    """
    if char in kept:
        return char
    category = unicodedata.category(char)
    if char.isspace() or char in _APOSTROPHES or category[0] not in "LNMC" or category in ("Cn", "Co", "Cs"):
        return " "
    if category[0] == "C":
        return ""
    spelled = anyascii(_plain(char))
    if not spelled and category[0] in "LN" and category != "Lm":  # a letter that nobody spells
        return " "
    if "/" in spelled:  # a fraction, kept apart from the numbers beside it
        return f" {_SYMBOLS.sub(' ', spelled)} "
    return _SYMBOLS.sub("", spelled)


def _in_latin(text: str, field: CarrierField) -> str:
    if not text.isascii() and any(char.isalpha() and not _is_latin(char) for char in text):
        raise field.error("only Latin letters can be printed")
    return text


def to_ascii(text: str) -> str:
    """Return ASCII letters, digits and single spaces, accents, ligatures and other scripts spelled out.

    A hyphen between letters or digits stays; every other symbol becomes a space, so that `12-14` and `n°5` keep their
    numbers apart. A letter that is written in parts is spelled as one.
    """
    spaced = _LONG_VOWEL_AS_HYPHEN.sub(" ", text)
    composed = unicodedata.normalize("NFC", spaced[:_MAX_COMPOSED]) + spaced[_MAX_COMPOSED:]
    return " ".join(_LOOSE_HYPHENS.sub(" ", "".join(map(_spelled, composed, repeat("-")))).split())


def to_plain(text: str, field: CarrierField) -> str:
    """Return printable ASCII: accents spelled out, quotes and dashes plain, any other symbol a space."""
    latin = _in_latin("".join(map(_plain, text.translate(_PLAIN))), field)
    return " ".join("".join(map(_spelled, latin, repeat(string.punctuation))).split())


def visible(text: str) -> str:
    """Return plain punctuation, composed letters and single spaces, without invisible characters."""
    spaced = " ".join(text.translate(_PLAIN).split())
    shown = "".join(_plain(char) for char in spaced if unicodedata.category(char)[0] != "C")
    return unicodedata.normalize("NFC", " ".join(shown.split()))


def to_latin(text: str, field: CarrierField) -> str:
    """Return Latin text with plain punctuation and single spaces; refuse characters that the carrier cannot print."""
    if _PRINTABLE_LATIN_1.fullmatch(text):
        return " ".join(text.split())
    latin = _in_latin(visible(text), field)
    if any(char > _LAST_LATIN_1 and not _is_latin(char) for char in latin):
        raise field.error("only Latin letters, digits and plain punctuation can be printed")
    return latin


def fitting(text: str, field: CarrierField) -> str:
    """Return the text if it is not too long."""
    if len(text) > field.max_length:
        raise field.error(f"is longer than the {field.max_length} characters that {field.carrier} prints")
    return text


def present(text: str, field: CarrierField) -> str:
    """Return the text if it is not empty."""
    if not text:
        raise field.error(f"has no text that {field.carrier} can print")
    return text


def required(text: str, field: CarrierField) -> str:
    """Return the text if it is not empty and not too long."""
    return fitting(present(text, field), field)


def joined(line: str, more: str, field: CarrierField, place: str) -> str:
    """Return a line with the field's text behind it, if there is room; `place` says where that is."""
    left = max(0, field.max_length - len(line) - 1) if line else field.max_length
    if len(more) > left:
        raise field.error(f"is longer than the {left} characters that {place}")
    return f"{line} {more}".strip()


def wrapped(text: str, field: CarrierField, lines: int) -> list[str]:
    """Wrap a text at its spaces to at most `lines` lines of the field's length."""
    folded = textwrap.wrap(text, field.max_length, break_long_words=False, break_on_hyphens=False)
    if len(folded) > lines or any(len(line) > field.max_length for line in folded):
        raise field.error(f"does not fit into {lines} lines of {field.max_length} characters")
    return folded


def clean_number(text: str) -> str:
    """Return a tracking number as the carriers write it, empty if it cannot be one."""
    number = "".join(text.split())
    return number.upper() if _NUMBER.fullmatch(number) else ""
