"""Phone numbers as people write them: read in their address's country, overseas as French, elsewhere with advice."""

import pytest

from shops.contracts.phones import advice, e164, is_of_nobody
from tests.support.cases import in_one_test

PLUS = "Write a + in front of the country code."
FRENCH = "Write +33 6 99 00 11 22 if it is French."
OVERSEAS = ("RE", "YT", "GP", "MQ", "GF", "PM", "BL", "MF", "NC", "PF", "WF")


@in_one_test(
    "text, country_code, number",
    [
        *(
            (text, country_code, number)
            for text, number in (("06 99 00 11 22", "+33699001122"), ("01.42.08.09.10", "+33142080910"))
            for country_code in OVERSEAS
        ),
        ("0692 00 11 22", "RE", "+262692001122"),
        ("0690 00 11 22", "MF", "+590690001122"),
        ("0262 20 00 11", "YT", "+262262200011"),
        ("78 00 11", "NC", "+687780011"),
        ("+32 470 00 11 22", "RE", "+32470001122"),
        ("06 99 00 11 22", "FR", "+33699001122"),
        ("+33 6 99 00 11 22", "BE", "+33699001122"),
        ("0033 6 99 00 11 22", "BE", "+33699001122"),
        ("0470 00 11 22", "BE", "+32470001122"),
        ("02 512 00 11", "BE", "+3225120011"),
    ],
)
def test_a_number_is_its_countrys_own_or_french_overseas(text: str, country_code: str, number: str) -> None:
    assert e164(text, country_code) == number
    assert not is_of_nobody(text, country_code)


@pytest.mark.parametrize(
    ("text", "country_code", "number"),
    [
        ("06 39 98 00 11", "FR", "+33639980011"),  # the range for fiction
        ("07 00 00 00 00", "FR", "+33700000000"),
        ("06 39 98 00 11", "BE", "+32639980011"),
        ("06 39 98 00 11", "RE", "+262639980011"),
    ],
)
def test_a_number_that_nobody_gives_out_is_read_and_told(text: str, country_code: str, number: str) -> None:
    assert e164(text, country_code) == number
    assert is_of_nobody(text, country_code)


@pytest.mark.parametrize(
    ("text", "country_code", "problem", "said"),
    [
        *(("06 99 00 11 22", country, "a French", FRENCH) for country in ("BE", "GB", "AD", "US", "LU", "TF")),
        ("06 12 34 56 7", "FR", "not a phone", ""),
        ("07911 123456", "DK", "not a phone", ""),
        ("32 471-12-34-56", "FR", "not a phone", PLUS),
        ("41791234567", "DK", "not a phone", PLUS),
        ("12", "FR", "not a phone", ""),
        ("abc", "FR", "not a phone", ""),
        ("", "FR", "not a phone", ""),
    ],
)
def test_a_number_that_is_refused_is_told_how_to_write_it(
    text: str, country_code: str, problem: str, said: str
) -> None:
    with pytest.raises(ValueError, match=f"{problem} number"):
        e164(text, country_code)
    assert advice(text, country_code) == said


@pytest.mark.parametrize("text", ["", "12", "abc", "6" * 60_000])
def test_what_is_no_number_is_nobody_s(text: str) -> None:
    assert not is_of_nobody(text, "FR")
