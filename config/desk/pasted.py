"""Reads lists of numbers as people have them: pasted from an e-mail, or a carrier's file with a second column."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from itertools import chain, islice
from typing import Final

MAX_LINES: Final = 200_000
# A tracking number has digits enough to be none of an e-mail's words; a label's id is 15 capitals and digits.
NUMBER: Final = re.compile(r"(?=(?:[A-Z]*\d){6})[A-Z0-9]{8,35}|(?=[A-Z]*\d)[0-9A-Z]{15}")
LONG: Final = 11  # no carrier's number is shorter: such a part is whole, shorter ones are parts of one with spaces
THOUSANDS: Final = re.compile(r"(?<![0-9A-Za-z])([1-9]\d{0,2})[ \u00a0\u202f](?=\d{3},\d{1,2}(?![0-9A-Za-z]))")
DECIMAL_COMMA: Final = re.compile(r"(?<![0-9A-Za-z])(\d{1,6}),(\d{1,3})(?![0-9A-Za-z])")
AMOUNT: Final = re.compile(r"\d{1,6}(?:\.\d{1,6})?")
# Excel writes ="0123" for a text of digits, and people copy its apostrophes.
ORNAMENTS: Final = str.maketrans("", "", "\"'=\u2018\u2019\u201c\u201d\u00ab\u00bb\ufeff\u200b€")
SEPARATORS: Final = re.compile(r"[\t;,|]")


@dataclass(frozen=True)
class Line:
    """A number of a list, and the amount beside it, if there is one: kilograms or euros, as the list has them."""

    number: str
    amount: Decimal | None = None


def decoded(content: bytes) -> str:
    """Return the text of a file: UTF-8 or UTF-16 with its mark, else as a French Excel writes CSV."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def lines(text: str) -> Iterator[Line]:
    """Yield each number of a text, in its order; an amount belongs to the one number of its line."""
    in_turn = StringIO(text, newline=None)  # one after the other: millions of lines take much memory
    for written in chain.from_iterable(map(str.splitlines, in_turn)):  # Word's line breaks are others
        numbers, amounts = parts(written)
        amount = amounts[0] if len(numbers) == 1 and amounts else None
        for number in numbers:
            yield Line(number, amount)


def parts(written: str) -> tuple[list[str], list[Decimal]]:
    """Return the numbers and the amounts of a line."""
    numbers: list[str] = []
    amounts: list[Decimal] = []
    plain = DECIMAL_COMMA.sub(r"\1.\2", THOUSANDS.sub(r"\1", written.translate(ORNAMENTS)))
    for cell in SEPARATORS.split(plain):
        tokens = [token.strip(".:()[]<>") for token in cell.split()]
        found = [token.upper() for token in tokens if NUMBER.fullmatch(token.upper())]
        whole = "".join(tokens).upper()
        is_whole = any(len(token) >= LONG for token in found)
        if len(tokens) > 1 and not is_whole and len(whole) >= LONG and NUMBER.fullmatch(whole):
            numbers.append(whole)
            continue
        numbers += found
        amounts += filter(None, map(Decimal, filter(AMOUNT.fullmatch, tokens)))
    return numbers, amounts


def is_list(text: str) -> bool:
    """Return whether a text typed into the box is several numbers."""
    return len([*islice(lines(text), 2)]) > 1
