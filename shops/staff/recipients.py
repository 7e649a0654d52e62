"""Recipients as they are found by: words of name, postal code, phone and e-mail, without case and accents.

Each word begins with the letter of its kind, so that the beginning of a postal code finds no phone number.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import product

import phonenumbers
from anyascii import anyascii
from django.db.models import Q
from django.utils.translation import gettext_lazy

from shops.db.querysets import any_of
from shops.db.words import word

NAME, POSTAL_CODE, PHONE, EMAIL = "n", "z", "p", "e"
KINDS = {
    NAME: gettext_lazy("recipients' names"),
    POSTAL_CODE: gettext_lazy("postal codes"),
    PHONE: gettext_lazy("phone numbers"),
    EMAIL: gettext_lazy("e-mail addresses"),
}
WORD = re.compile(r"[a-z0-9]+")
NOT_A_DIGIT = re.compile(r"[^0-9]+")
PHONE_TEXT = re.compile(r"[\s\d()+./\-\u00a0\u2010-\u2015]+")
# Shorter beginnings would find a large part of the table: only whole words are looked for then.
MIN_BEGINNING = {NAME: 3, POSTAL_CODE: 3, PHONE: 7, EMAIL: 5}
MAX_WORDS = 6


def words_of(
    *, names: Iterable[str | None], postal_code: str, phone: str, country_code: str, emails: Iterable[str | None]
) -> Iterator[str]:
    """Yield the words that a recipient is found by."""
    for name in WORD.findall(folded(" ".join(filter(None, names)))):
        yield NAME + name
    if code := "".join(WORD.findall(folded(postal_code))):
        yield POSTAL_CODE + code
    for digits in phone_digits(phone, country_code):
        yield PHONE + digits
    for email in filter(None, emails):
        yield EMAIL + word(folded(email))


def folded(text: str) -> str:
    """Return a text in lower case without accents; letters of other scripts are spelled in Latin ones."""
    return (text if text.isascii() else anyascii(text)).lower()


def phone_digits(phone: str, country_code: str) -> Iterator[str]:
    """Yield the digits of a phone number with its country's code and without, where that is known; no leading 0.

    It is read as it is written, without the numbering plan of its country: this is done for each imported parcel.
    """
    digits = NOT_A_DIGIT.sub("", phone)
    is_international = phone.lstrip().startswith("+") or digits.startswith("00")
    digits = digits.lstrip("0")
    code = str(phonenumbers.country_code_for_region(country_code) or "")
    national = digits.removeprefix(code).lstrip("0") if is_international else digits
    if digits:
        yield national
        yield digits if is_international and national == digits else code + national


class RecipientSearch:
    """The parts of a recipient that a text may be, as conditions on a `WordsField`."""

    def __init__(self, text: str) -> None:
        self.text = folded(text.strip())
        self.words = WORD.findall(self.text)[:MAX_WORDS]

    def condition(self, *, begins: bool) -> Q:
        """Return the condition for rows with these words, or such as begin so; of no row where it is no recipient."""
        return any_of(Q(*(self.term(*each, begins=begins) for each in words)) for words in self.alternatives())

    @property
    def kinds(self) -> list[str]:
        """The kinds that the text may be of, in words."""
        tried = {kind for alternative in self.alternatives() for kind, _ in alternative}
        return [str(name) for kind, name in KINDS.items() if kind in tried]

    def alternatives(self) -> Iterator[list[tuple[str, str]]]:
        """Yield what the text may be, as kinds with their words, all of which a row has to have."""
        if "@" not in self.text and self.words:
            yield from map(list, product(*map(self.meanings, self.words)))
        joined = "".join(self.words)
        if len(self.words) > 1 and has_digit(joined):
            yield [(POSTAL_CODE, joined)]
        if len(self.text.split()) == 1 and len(self.text) >= MIN_BEGINNING[EMAIL] and not self.text.isdigit():
            yield [(EMAIL, word(self.text))]
        for digits in self.phones():
            yield [(PHONE, digits)]

    @staticmethod
    def meanings(each: str) -> list[tuple[str, str]]:
        kinds = [POSTAL_CODE] if each.isdigit() else [NAME, POSTAL_CODE] if has_digit(each) else [NAME]
        return [(kind, each) for kind in kinds]

    def phones(self) -> set[str]:
        if not PHONE_TEXT.fullmatch(self.text):
            return set()
        found = {NOT_A_DIGIT.sub("", self.text).lstrip("0")}
        if self.text.startswith("+"):
            try:
                number = phonenumbers.parse(self.text)
            except phonenumbers.NumberParseException:
                return found
            found.add(f"{number.country_code}{number.national_number}")
        return {digits for digits in found if len(digits) >= MIN_BEGINNING[PHONE]}

    @staticmethod
    def term(kind: str, text: str, *, begins: bool) -> Q:
        lookup = "begins" if begins and len(text) >= MIN_BEGINNING[kind] else "has"
        return Q(**{f"search_words__{lookup}": kind + text})


def has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)
