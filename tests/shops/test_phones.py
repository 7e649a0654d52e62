"""Advice on phone numbers that can't be read in their address's country."""

import pytest

from shops.phones import advice, e164

PLUS = "Write a + in front of the country code."


@pytest.mark.parametrize(
    ("text", "country_code", "said"),
    [
        ("06 12 34 56 7", "FR", "If it is one of BE (+32) or DE (+49) or IT (+39), write it with the country code."),
        ("07911 123456", "DK", "If it is one of DE (+49) or GB (+44) or IT (+39), write it with the country code."),
        ("32 471-12-34-56", "FR", PLUS),
        ("41791234567", "DK", PLUS),
        ("12", "FR", ""),
        ("abc", "FR", ""),
        ("", "FR", ""),
    ],
)
def test_a_number_of_another_country_is_told_how_to_write_it(text: str, country_code: str, said: str) -> None:
    with pytest.raises(ValueError, match="not a phone number"):
        e164(text, country_code)
    assert advice(text, country_code) == said
