"""``set_sender_address``: the shop's own address, as labels need it."""

from pathlib import Path

import orjson
import pytest

from shops.management.commands import set_sender_address
from shops.models import Shop
from tests.labels.gates import during
from tests.labels.orders import SENDER
from tests.shops.commands import call, refused
from tests.support.audit import changes
from tests.support.cases import in_one_test

SET_ADDRESS = "set_sender_address"


BAD_ADDRESSES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"firstName": "\xff"}',
    "an array": b"[]",
    "null": b"null",
    "text": b'"text"',
    "an empty object": b"{}",
    "a lone surrogate": b'{"firstName": "\\ud800"}',
    "deep": b"[" * 5000,
    "an address in a file that is too long": orjson.dumps(SENDER) + b" " * 65_536,
    **{
        f"{name} {value!r}": orjson.dumps(SENDER | {name: value})
        for name in SENDER
        for value in (None, 5, "\0", "x" * 1001)
    },
    "a country in small letters": orjson.dumps(SENDER | {"countryCode": "fr"}),
    "no phone number": orjson.dumps(SENDER | {"phone": "x"}),
}


def test_what_staff_set_while_the_file_was_read_is_on_record_as_before(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input may be a person's typing."""
    typed = SENDER | {"city": "Brest"}
    during(monkeypatch, set_sender_address, "read_json", after=lambda _: Shop.objects.update(sender_address=typed))
    call(SET_ADDRESS, shop.id, "-", stdin=orjson.dumps(SENDER))
    assert [entry.changes for entry in changes()] == [{"sender_address": [typed, SENDER]}]


@in_one_test("content", BAD_ADDRESSES.values())
def test_a_bad_address_changes_nothing(content: bytes, shop: Shop, tmp_path: Path) -> None:
    Shop.objects.update(sender_address=SENDER)
    file = tmp_path / "address.json"
    file.write_bytes(content)
    assert refused(SET_ADDRESS, "lumiere", str(file)).startswith("FILE: ")
    shop.refresh_from_db()
    assert shop.sender_address == SENDER


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"city": "", "phone": "x"}, "city: must not be empty. phone: must be a phone number."),
        ({"city": "☃", "address1": "☃"}, "address1: {empty}. city: {empty}"),
    ],
)
def test_a_bad_address_is_told_whole(wrong: dict[str, str], said: str, shop: Shop) -> None:
    told = refused(SET_ADDRESS, "lumiere", "-", stdin=orjson.dumps(SENDER | wrong))
    assert told == "FILE: " + said.format(empty="has no text that alpha can print")


def test_an_address_that_one_carrier_can_not_print_is_set_and_said_so(shop: Shop) -> None:
    address = SENDER | {"lastName": "Long" * 9}
    _, err = call(SET_ADDRESS, "lumiere", "-", stdin=orjson.dumps(address))
    shop.refresh_from_db()
    assert shop.sender_address == address
    first, second = err.splitlines()
    assert "is set" in first
    assert second.startswith("Labels of beta can't be sent from it: lastName: ")


def test_fields_that_no_sender_has_are_ignored_and_named(shop: Shop) -> None:
    address = orjson.dumps(SENDER | {"adress2": "Bâtiment B", "instructions": "ring", "a\nb": 1})
    _, err = call(SET_ADDRESS, "lumiere", "-", stdin=address)
    shop.refresh_from_db()
    assert shop.sender_address == SENDER
    (line,) = err.splitlines()
    assert line.endswith(" is set. Ignored, as no field of originAddress: adress2, instructions, a%0Ab.")
