"""Orders in hostile alphabets: alpha receives what its page says, or the order is refused by name.

The oracle is written from the page, in this file: it shares nothing with the client.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    zip("éàçñÜőłØşĐΑήναΩμ", "eacnUolOsDAinaOm", strict=True),
    **{"œ": "oe", "Œ": "Oe", "æ": "ae", "ß": "ss", "\ufb01": "fi", "\ufb02": "fl", "²": "2", "\u1d49": "e", "θ": "th"},
)
SYMBOLS = "&°'\"«»/.,;:!?()[]{}#@%*+=_|\\~^`€$£§·…<>" + "\u2019\u201c\u201d\u2013\u2014\u2010\u2022\u2603\u2192"
EMOJI = "\U0001f600\U0001f4e6\U0001f3e0"
ALPHABETS = ("abcxyzABC019", "--- \u00a0", "".join(LETTERS), SYMBOLS + EMOJI)
WEIGHTS = (5, 3, 2, 2)
TEXTS = ("first_name", "last_name", "company", "address1", "address2", "city")
PATHS = {"first_name": "firstName", "last_name": "lastName"}
LENGTHS = {"company": 100, "address2": 38, "city": 50, "reference": 35}


def accepted(text: str) -> str:
    """Accents to their letter; a hyphen inside stays, two or more are a space, at the ends none; others a space."""
    spelled = "".join(
        LETTERS.get(char, char if char == "-" or (char.isascii() and char.isalnum()) else " ") for char in text
    )
    parts = (part for word in spelled.split() for part in re.split("^-+|-+$|--+", word))
    return " ".join(filter(None, parts))


def folded(street: str) -> list[str]:
    """Fold a street into lines of 38 characters, never in the middle of a word."""
    lines: list[str] = []
    for word in street.split():
        if lines and len(lines[-1]) + 1 + len(word) <= 38:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


@dataclass
class Expected:
    """A party as alpha is to receive it, and the fields that can't be printed."""

    fields: dict[str, str]
    faults: set[str]


def expected(path: str, prefix: str, party: dict[str, str]) -> Expected:
    texts = {name: accepted(party[name]) for name in TEXTS}
    faults = {name for name in TEXTS if len(texts[name]) > LENGTHS.get(name, 10**6)}
    person = f"{texts['first_name']} {texts['last_name']}".strip()
    names = [texts["company"], person] if texts["company"] else [person]
    lines = folded(texts["address1"])
    if not person or len(person) > 100:
        faults.add("first_name" if len(texts["first_name"]) > len(texts["last_name"]) else "last_name")
    if not texts["city"]:
        faults.add("city")
    if not lines or len(lines) > 2 or max(map(len, lines)) > 38:
        faults.add("address1")
    elif len(lines) > 1 and texts["address2"] and len(f"{lines[1]} {texts['address2']}") > 38:
        faults.add("address2")
    second = " ".join(filter(None, [*lines[1:], texts["address2"]]))
    sent = {
        "Name": names[0],
        "Name2": "".join(names[1:]),
        "ContactName": person,
        "Adress1": "".join(lines[:1]),
        "Adress2": second,
        "City": texts["city"],
    }
    return Expected(
        {prefix + name: text for name, text in sent.items() if text},
        {f"{path}.{PATHS.get(name, name)}" for name in faults},
    )


def expected_references(references: list[str], whole: str) -> Iterator[tuple[str, set[str]]]:
    for index, own in enumerate(references):
        path, text = f"parcels[{index}].reference" if own else "reference", accepted(own or whole)
        yield text, {path} if len(text) > LENGTHS["reference"] else set()


def check(sandbox: SandboxServer, alpha: Carrier, texts: dict[str, Any]) -> bool:
    """Order, compare the ledger with the oracle, and return true if a label was bought."""
    sender = expected("originAddress", "shipper", texts["sender"])
    recipient = expected("destinationAddress", "recipient", texts["recipient"])
    references = list(expected_references(texts["references"], texts["reference"]))
    faults = (sender.faults | recipient.faults).union(*(paths for _, paths in references))
    ordered = order(
        "alpha-13",
        sender=texts["sender"],
        recipient=texts["recipient"],
        reference=texts["reference"],
        packages=tuple(Package(Decimal(1), reference=own) for own in texts["references"]),
    )
    if faults:
        with pytest.raises(Rejected) as caught:
            alpha.create_label(ordered, CREDENTIALS["alpha"])
        assert set(re.findall(r"(?:^|\. )([A-Za-z]+(?:\[\d\])?(?:\.\w+)?): ", str(caught.value))) == faults
        return False
    number = alpha.create_label(ordered, CREDENTIALS["alpha"]).tracking_numbers[0]
    request = sandbox.parcel(number).request
    for structure, party in (("shipperValue", sender), ("recipientValue", recipient)):
        received = {name: text for name, text in request[structure][0].items() if name in every_name(structure)}
        assert received == party.fields
    assert [ref.get("recipientRef", "") for ref in request["refValue"]] == [text for text, _ in references]
    return True


def every_name(structure: str) -> set[str]:
    prefix = structure.removesuffix("Value")
    return {prefix + name for name in ("Name", "Name2", "ContactName", "Adress1", "Adress2", "City")}


class Texts:
    """Random texts in an alphabet of letters, spaces and hyphens, and of whatever else customers type."""

    def __init__(self, seed: int, longest: int) -> None:
        self._random = random.Random(seed)
        self._longest = longest

    def order(self) -> dict[str, Any]:
        references = [self._text() for _ in range(self._random.randint(1, 3))]
        return {
            "sender": self._party(),
            "recipient": self._party(),
            "reference": self._text(),
            "references": references,
        }

    def _party(self) -> dict[str, str]:
        return {name: self._text() for name in TEXTS}

    def _text(self) -> str:
        kinds = self._random.choices(ALPHABETS, WEIGHTS, k=self._random.randint(0, self._longest))
        return "".join(map(self._random.choice, kinds))


@in_one_test("longest, seed", product([18, 30, 60], range(20)))
def test_a_hostile_order_arrives_as_the_page_says_or_is_refused_by_name(
    sandbox: SandboxServer, clients: Mapping[str, Carrier], longest: int, seed: int
) -> None:
    check(sandbox, clients["alpha"], Texts(seed, longest).order())


def test_most_hostile_texts_that_fit_are_sold(sandbox: SandboxServer, clients: Mapping[str, Carrier]) -> None:
    texts = Texts(0, longest=30)
    assert sum(check(sandbox, clients["alpha"], texts.order()) for _ in range(20)) > 10
