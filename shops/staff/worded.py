"""Texts that are made in English, where no reader is known, worded in the reader's language."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from django.utils.translation import gettext, gettext_noop

Forms = Mapping[str, re.Pattern[str]]


def forms_of(*texts: str) -> Forms:
    """Compile texts, in which `%s` stands for a value, for `worded`."""
    return {text: re.compile(re.escape(text).replace("%s", "(.*)")) for text in texts}


def worded(text: str, forms: Forms, value: Callable[[str], str] = str) -> str:
    """Return a text of one of these forms in the reader's language, and any other as it is."""
    for form, pattern in forms.items():
        if match := pattern.fullmatch(text):
            return gettext(form) % tuple(map(value, match.groups())) if match.groups() else gettext(form)
    return text


# What is wrong with a field of an address or a contract, and what of it a carrier can't print.
FAULTS: Final = forms_of(
    gettext_noop("must not be empty."),
    gettext_noop("must be a phone number."),
    gettext_noop("must be a phone number. Write %s if it is French."),
    gettext_noop("must be a phone number. Write a + in front of the country code."),
    gettext_noop("must be an ISO 3166-1 alpha-2 country code in upper case."),
    gettext_noop("must be an ISO 3166-1 alpha-2 country code in upper case. Use %s."),
    gettext_noop("only Latin letters can be printed"),
    gettext_noop("only Latin letters, digits and plain punctuation can be printed"),
    gettext_noop("has no text that %s can print"),
    gettext_noop("is longer than the %s characters that %s prints"),
    gettext_noop("does not fit into %s lines of %s characters"),
)
OF_FIELD: Final = re.compile(r"(\w+): (.*)")


def fault(text: str) -> str:
    """Word a fault, which may begin with the name of its field."""
    match = OF_FIELD.fullmatch(text)
    said = worded(match[2] if match else text, FAULTS)
    return f"{match[1]}{gettext(': ')}{said}" if match else said
