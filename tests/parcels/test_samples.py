"""The sample parcels are plausible."""

from collections import Counter, defaultdict
from typing import Any

import orjson
import phonenumbers
import pytest

from parcels.samples import sample_parcels
from tests.support.api import Caller
from tests.support.factories import import_lines

NOW_MS = 1_795_000_000_000


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    """As many as the demonstration has."""
    return list(sample_parcels(400, now_ms=NOW_MS))


def test_they_are_reproducible(samples: list[dict[str, Any]]) -> None:
    assert list(sample_parcels(400, now_ms=NOW_MS)) == samples


def test_all_of_them_can_be_imported(samples: list[dict[str, Any]], own: Caller) -> None:
    assert import_lines(own.shop, [orjson.dumps(sample) for sample in samples]) == len(samples)


def test_their_phone_numbers_are_numbers_of_their_countries(samples: list[dict[str, Any]]) -> None:
    for destination in (sample["destination"] for sample in samples):
        number = phonenumbers.parse(destination["phone"])
        assert phonenumbers.is_valid_number_for_region(number, destination["countryCode"]), destination


def test_a_customer_is_one_person_with_an_order_or_a_few(samples: list[dict[str, Any]]) -> None:
    people, customers = defaultdict(set), defaultdict(set)
    for sample in samples:
        person = orjson.dumps(sample["destination"] | {"isPickupPoint": None})
        people[sample["customerEmail"]].add(person)
        customers[sample["orderNumber"]].add(sample["customerEmail"])
    assert {len(found) for found in people.values()} == {1}
    assert {len(found) for found in customers.values()} == {1}
    assert len({person for found in people.values() for person in found}) == len(people)
    parcels = Counter(sample["customerEmail"] for sample in samples)
    assert parcels["customer+0@example.com"] == 6
    assert set(parcels.values()) == {2, 4, 6}
