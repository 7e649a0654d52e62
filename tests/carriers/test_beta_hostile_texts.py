"""Orders in hostile alphabets: beta receives what its page says, or the order is refused by name.

The oracle is written from the page, in this file: it shares nothing with the client.
"""

import random
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from carriers.base import Carrier
from carriers.errors import Rejected
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Package
from tests.carriers.support.sandbox import order
from tests.carriers.support.shipments import CREDENTIALS
from tests.support.cases import in_one_test

LETTERS = dict(
    zip("éàçñÜőłØşĐ", "eacnUolOsD", strict=True),
    **{"œ": "oe", "Œ": "Oe", "æ": "ae", "ß": "ss", "\ufb01": "fi", "²": "2"},
)
SYMBOLS = "&°'\"«»/.,;:!?()[]{}#@%*+=_|\\~^`$£§·<>"
# Quotes, apostrophes and dashes as keyboards write them, and their plain forms.
TYPOGRAPHIC = dict(zip("\u2018\u2019\u201c\u201d\u2010\u2013\u2014", "''\"\"---", strict=True))
# No Latin letters, and no glyph for them.
GREEK, PICTOGRAMS = "ΑθήναΩμ", "\U0001f600\U0001f4e6\u2022\u2603\u2192\u2026"
ALPHABETS = ("abcxyzABC019", "--- \u00a0", "".join(LETTERS), SYMBOLS + "".join(TYPOGRAPHIC))
WEIGHTS = (5, 3, 2, 1)
LENGTHS = {"company": 35, "last_name": 35, "first_name": 29, "city": 35}
NAMES = {"company": "companyName", "last_name": "lastName", "first_name": "firstName", "city": "city"}
PATHS = {"last_name": "lastName", "first_name": "firstName"}
LINE, REFERENCE = 35, 15
TEXTS = (*LENGTHS, "address1", "address2")
ON_ONE_LINE = ("BE", "CH")
ZIP_CODES = {"FR": "75011", "BE": "1000", "CH": "8001", "RE": "97400"}


class UnprintableError(Exception):
    """The carrier refuses a character of this text."""


def as_typed(text: str) -> str:
    """Return an address's text: as typed, with plain quotes and dashes and single spaces; nothing but Latin."""
    if set(text) & {*GREEK, *PICTOGRAMS}:
        raise UnprintableError
    return " ".join("".join(TYPOGRAPHIC.get(char, char) for char in text).split())


def in_letters(text: str) -> str:
    """Return words to the driver: letters and digits, accents spelled out, every other symbol a space."""
    if set(text) & {*GREEK}:
        raise UnprintableError
    spelled = (LETTERS.get(char, char if char.isascii() and char.isalnum() else " ") for char in text)
    return " ".join("".join(spelled).split())


def folded(street: str) -> list[str]:
    """Fold a street into lines of 35 characters, never in the middle of a word."""
    lines: list[str] = []
    for word in street.split():
        if lines and len(lines[-1]) + 1 + len(word) <= LINE:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def expected_lines(address1: str, address2: str, *, is_one: bool) -> dict[str, str] | str:
    """Return the lines of an address, or the field at fault."""
    try:
        street = as_typed(address1)
    except UnprintableError:
        return "address1"
    try:
        more = as_typed(address2)
    except UnprintableError:
        return "address2"
    lines = folded(street)
    if len(more) > LINE:
        return "address2"
    if not lines or len(lines) > (1 if is_one else 2) or max(map(len, lines)) > LINE:
        return "address1"
    if len(lines) == 1 and not is_one:
        return {"line2": street, "line3": more}
    last = f"{lines[-1]} {more}".strip()
    return dict(zip(("line2", "line3"), [*lines[:-1], last], strict=False)) if len(last) <= LINE else "address2"


def expected_party(party: dict[str, str], *, is_one_line: bool) -> tuple[dict[str, str], set[str]]:
    """Return the address as beta is to receive it, and the fields that can't be printed."""
    sent: dict[str, str] = {}
    faults: set[str] = set()
    for name, longest in LENGTHS.items():
        try:
            sent[NAMES[name]] = as_typed(party[name])
        except UnprintableError:
            sent[NAMES[name]] = "?" * (longest + 1)
        if len(sent[NAMES[name]]) > longest or (name == "city" and not sent["city"]):
            faults.add(name)
    lines = expected_lines(party["address1"], party["address2"], is_one=is_one_line)
    if isinstance(lines, str):
        faults.add(lines)
    else:
        sent |= lines
    if not faults and not sent["companyName"] and not (sent["lastName"] and sent["firstName"]):
        faults.add("last_name")
    return {name: text for name, text in sent.items() if text}, {PATHS.get(name, name) for name in faults}


def expected_references(references: list[str], whole: str) -> Iterator[tuple[str, set[str]]]:
    for index, own in enumerate(references):
        path = f"parcels[{index}].reference" if own else "reference"
        try:
            text = as_typed(own or whole)
        except UnprintableError:
            yield "", {path}
        else:
            yield text, {path} if len(text) > REFERENCE else set()


def expected_instructions(text: str) -> tuple[str, set[str]]:
    path = {"destinationAddress.instructions"}
    try:
        words = in_letters(text)
    except UnprintableError:
        return "", path
    return words, path if len(words) > LINE else set()


def check(sandbox: SandboxServer, beta: Carrier, country: str, texts: dict[str, Any]) -> bool:
    """Order, compare the ledger with the oracle, and return true if a label was bought."""
    sender, of_sender = expected_party(texts["sender"], is_one_line=False)
    recipient, of_recipient = expected_party(texts["recipient"], is_one_line=country in ON_ONE_LINE)
    instructions, of_instructions = expected_instructions(texts["instructions"])
    references = list(expected_references(texts["references"], texts["reference"]))
    faults = {f"originAddress.{name}" for name in of_sender} | {f"destinationAddress.{name}" for name in of_recipient}
    faults |= of_instructions
    # What all parcels share is told with the first one, else the first fault of a parcel.
    faults |= references[0][1] if faults else next((paths for _, paths in references if paths), set())
    place = {"country_code": country, "zip_code": ZIP_CODES[country]}
    ordered = order(
        "beta",
        sender=texts["sender"],
        recipient=texts["recipient"] | place,
        reference=texts["reference"],
        instructions=texts["instructions"],
        commercial_name="Bougies",
        packages=tuple(Package(Decimal(1), reference=own) for own in texts["references"]),
    )
    if faults:
        with pytest.raises(Rejected) as caught:
            beta.create_label(ordered, CREDENTIALS["beta"])
        assert set(re.findall(r"(?:^|\. )([A-Za-z]+(?:\[\d\])?(?:\.\w+)?): ", str(caught.value))) == faults
        return False
    numbers = beta.create_label(ordered, CREDENTIALS["beta"]).tracking_numbers
    for number, (reference, _) in zip(numbers, references, strict=True):
        letter = sandbox.parcel(number).request["letter"]
        assert received(letter["sender"]) == sender
        assert received(letter["addressee"]) == recipient
        assert letter["sender"]["senderParcelRef"] == (reference or ordered.id)
        assert letter["parcel"].get("instructions", "") == instructions
    return True


def received(party: dict[str, Any]) -> dict[str, str]:
    """Return what the ledger has of a party's texts."""
    names = {*NAMES.values(), "line0", "line1", "line2", "line3"}
    return {name: text for name, text in party["address"].items() if name in names}


class Texts:
    """Random texts in an alphabet of letters, spaces and hyphens, and of whatever else customers type."""

    def __init__(self, seed: int, longest: int, foreign: float = 0.0, parcels: int = 1) -> None:
        self._random = random.Random(seed)
        self._longest, self._foreign, self._parcels = longest, foreign, parcels

    def order(self) -> dict[str, Any]:
        references = [self._text(REFERENCE) for _ in range(self._parcels)]
        return {
            "sender": self._party(),
            "recipient": self._party(),
            "reference": self._text(REFERENCE),
            "references": references,
            "instructions": self._text(LINE),
        }

    def _party(self) -> dict[str, str]:
        return {name: self._text(LENGTHS.get(name, 2 * LINE)) for name in TEXTS}

    def _text(self, longest: int) -> str:
        longest = min(self._longest, longest + 1)
        kinds = self._random.choices(ALPHABETS, WEIGHTS, k=self._random.randint(0, longest))
        is_foreign = self._random.random() < self._foreign
        return "".join(map(self._random.choice, kinds)) + (
            self._random.choice(GREEK + PICTOGRAMS) if is_foreign else ""
        )


# Of those to CH and RE the sandbox draws customs forms, which takes long: one order is enough.
@in_one_test("country, longest, seed", product(["FR", "BE"], [18, 30, 60], range(10)))
def test_a_hostile_order_arrives_as_the_page_says_or_is_refused_by_name(
    sandbox: SandboxServer, clients: Mapping[str, Carrier], country: str, longest: int, seed: int
) -> None:
    check(sandbox, clients["beta"], country, Texts(seed, longest, foreign=0.01).order())


@pytest.mark.parametrize("country", ["CH", "RE"])
def test_the_parcels_of_an_order_that_is_declared_to_customs_arrive_too(
    sandbox: SandboxServer, clients: Mapping[str, Carrier], country: str
) -> None:
    assert check(sandbox, clients["beta"], country, Texts(0, longest=12, parcels=2).order())


@pytest.mark.parametrize("country", ["FR", "BE"])
def test_most_hostile_texts_that_fit_are_sold(
    sandbox: SandboxServer, clients: Mapping[str, Carrier], country: str
) -> None:
    texts = Texts(0, longest=14)
    assert sum(check(sandbox, clients["beta"], country, texts.order()) for _ in range(10)) > 5
