"""The words that recipients are found by, and what a text that staff type may be of a recipient."""

from typing import Any

import pytest

from parcels.models import Parcel
from shops.db.words import MAX_WORDS, joined, word
from shops.staff.recipients import RecipientSearch, words_of
from tests.support.factories import DestinationFactory


def words(**fields: str) -> set[str]:
    facts = {"postal_code": "", "phone": "", "country_code": "FR"} | fields
    names, emails = [facts.pop("name", "")], [facts.pop("email", None)]
    return {each for each in words_of(names=names, emails=emails, **facts) if each}


def test_words_have_neither_case_nor_accents_nor_punctuation() -> None:
    assert words(name="Zoé d'Œuvrard-Straße") == {"nzoe", "nd", "noeuvrard", "nstrasse"}
    assert words(postal_code="SW1A 1AA", country_code="GB") == {"zsw1a1aa"}
    assert words(email="Jane.Doe@Example.com") == {"ejane.doe@example.com"}
    assert words() == set()


@pytest.mark.parametrize("phone", ["+33612345678", "0612345678", "06 12.34-56 78", "0033 6 12 34 56 78"])
def test_a_phone_has_one_form_with_its_country_and_one_without(phone: str) -> None:
    assert words(phone=phone) == {"p33612345678", "p612345678"}


def test_a_phone_of_another_or_an_unknown_country_is_found_by_its_digits() -> None:
    assert "p493012345" in words(phone="+49 30 12345")
    assert "p612345678" in words(phone="0612345678", country_code="")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Martin", ["recipients' names", "e-mail addresses"]),
        ("75011", ["postal codes"]),
        ("martin 75011", ["recipients' names", "postal codes"]),
        ("06 12 34 56 78", ["postal codes", "phone numbers"]),
        ("jane@example.com", ["e-mail addresses"]),
        ("--", []),
    ],
)
def test_a_text_is_looked_for_as_what_it_may_be(text: str, kinds: list[str]) -> None:
    assert RecipientSearch(text).kinds == kinds


def test_the_words_of_a_row_are_few_and_short_whatever_is_imported() -> None:
    emails: Any = [f"{number}@mail.example" for number in range(10_000)]
    parcel = Parcel(destination=DestinationFactory(), previous_emails=emails)
    written = Parcel._meta.get_field("search_words").pre_save(parcel, add=True)
    assert 0 < len(written.split()) <= MAX_WORDS
    assert len(word("x" * 10_000)) == len(joined(["x" * 10_000]).strip())


def test_no_character_of_a_word_means_anything_to_a_database() -> None:
    assert word("o'b%r_i\\e\0n x") == "obrienx"
