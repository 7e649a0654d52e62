"""Redaction of a carrier's text: short, without control characters, personal data and secrets."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Final

from anyascii import anyascii

from carriers.shipment import Credentials, Party, Shipment
from carriers.text import to_ascii

MAX_TEXT_LENGTH: Final = 200
MAX_RAW_LENGTH: Final = 2000  # of what is looked into
_MAX_CODE_LENGTH: Final = 32
_MASK: Final = "***"
_WORD: Final = re.compile(r"\w{4,}")


class Redactor:
    """Redacts the answers to one request, whose personal values the carrier may echo.

    Masks whole values and their words of four letters or more, as carriers truncate what they echo. This may mask
    one of the carrier's own words, which does less harm than showing a personal one.
    """

    def __init__(
        self, credentials: Credentials, shipment: Shipment | None = None, personal: Iterable[str] = ()
    ) -> None:
        self._values = {*credentials.values, *personal}
        self._parties = (shipment.sender, shipment.recipient) if shipment else ()
        self._shipment = shipment

    @cached_property
    def _secrets(self) -> re.Pattern[str]:
        """Compiled when a text is shown: compiling takes long, and few answers have a text to show."""
        instructions = self._shipment.instructions if self._shipment else ""
        values = self._values.union(_spelled(instructions), *map(_personal, self._parties))
        patterns = (_pattern(value) for value in sorted(values, key=len, reverse=True))
        return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)

    def text(self, raw: str) -> str:
        """Return one line of at most 200 characters."""
        # Truncated first, as masking takes time; the words of a value cut in two are still masked.
        cut = raw[:MAX_RAW_LENGTH]
        spaced = cut if cut.isprintable() else "".join(map(_visible, cut))
        masked = self._secrets.sub(_MASK, " ".join(spaced.split()))
        return masked if len(masked) <= MAX_TEXT_LENGTH else masked[: MAX_TEXT_LENGTH - 1].rstrip() + "…"

    def without_echoes(self, raw: str) -> str:
        """Return a text for its meaning, not to be shown: without the order's values, or parts of them in a row.

        A single word that it has in common with a longer value is the carrier's own.
        """
        printed = _printed(self._shipment) if self._shipment else ()
        values = {*printed, *(value for party in self._parties for value in _values(party))} - {""}
        return re.sub("|".join(map(_echo, values)) or r"(?!)", _MASK, raw, flags=re.IGNORECASE)

    def code(self, raw: str) -> str:
        """Return an error code, empty if it is too long to be one."""
        return self.text(raw) if len(raw) <= _MAX_CODE_LENGTH else ""


def _visible(char: str) -> str:
    return " " if unicodedata.category(char)[0] in "CZ" else char


def _values(party: Party) -> Iterator[str]:
    yield from (party.company, party.address1, party.address2, party.city, party.person)
    yield from (party.first_name, party.last_name, party.zip_code, party.phone, party.email)


def _printed(shipment: Shipment) -> Iterator[str]:
    """Yield references and goods of several words: goods may be called products and no more."""
    items = shipment.customs.items if shipment.customs else ()
    texts = (shipment.reference, *(each.reference for each in shipment.packages), *(each.description for each in items))
    yield from (text for text in texts if len(text.split()) > 1)


def _personal(party: Party) -> Iterator[str]:
    for value in _values(party):
        yield from _spelled(value)
    # The carrier may write a phone number in its national form.
    yield party.phone[-9:]
    yield "0" + party.phone[-9:]


def _spelled(value: str) -> Iterator[str]:
    for spelling in {value, anyascii(value), to_ascii(value)}:  # the last is what alpha is sent
        yield from (spelling, *_WORD.findall(spelling))


def _echo(value: str) -> str:
    """Match two or more words of a value in a row, with any symbols between them; of a single word that one."""
    own, *spelled = (re.findall(r"\w+", spelling) for spelling in (value, anyascii(value), to_ascii(value)))
    word = rf"\b(?:{'|'.join({*own, *chain(*spelled)})})\b"
    return rf"{word}(?:\W+{word})+" if len(own) > 1 else word if own else r"(?!)"


def _pattern(value: str) -> str:
    """Match a value as whole words with any spacing; never a single letter, which would mask everything."""
    words = value.split()
    if sum(map(len, words)) < 2:  # noqa: PLR2004 - letters
        return r"(?!)"
    return r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
