"""A column of words that rows are found by, each from its beginning: indexed on PostgreSQL, scanned on SQLite."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression

MAX_WORD_LENGTH = 100
MAX_WORDS = 100
NOT_OF_A_WORD = re.compile(r"[\s'\\%_\0]+")  # they would need quotes in one of the databases


def word(text: str) -> str:
    """Return a text in the form of one word; empty where nothing is left."""
    return NOT_OF_A_WORD.sub("", text)[:MAX_WORD_LENGTH]


class WordsField(models.TextField[str, str]):
    """The words of a row's `words()`, written with the row: a `tsvector`, or text with a space before each word.

    A `tsvector` holds a few words a row where trigrams would be a hundred, so that an import pays little for its
    index; and it needs no extension.
    """

    def __init__(self, *, max_words: int = MAX_WORDS, **options: Any) -> None:
        super().__init__(**options | {"default": "", "editable": False})
        self.max_words = max_words

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "tsvector" if connection.vendor == "postgresql" else "text"

    def pre_save(self, instance: models.Model, add: bool) -> str:  # noqa: FBT001 - Django's signature
        words = joined(islice(instance.words(), self.max_words))  # type: ignore[attr-defined]  # models with this field have it
        setattr(instance, self.attname, words)
        return words

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:  # noqa: FBT001, FBT002 - as above
        quoted = value.strip().replace(" ", "' '")
        return f"'{quoted}'" if quoted and connection.vendor == "postgresql" else value

    def from_db_value(self, value: str, expression: Expression, connection: BaseDatabaseWrapper) -> str:
        return joined(value.replace("'", "").split())


def joined(words: Iterable[str]) -> str:
    """Join words once each; each follows a space, and a space follows the last."""
    once = " ".join(sorted({each[:MAX_WORD_LENGTH] for each in words} - {""}))
    return f" {once} " if once else ""


class WordLookup(models.Lookup[str]):
    """Rows with a word."""

    lookup_name = "has"
    mark, end = "", " "

    def get_prep_lookup(self) -> str:
        return word(self.rhs)

    def get_db_prep_lookup(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        is_postgresql = connection.vendor == "postgresql"
        return "%s", [f"'{value}'{self.mark}" if is_postgresql else f"% {value}{self.end}%"]

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        column, before = self.process_lhs(compiler, connection)
        _, parameters = self.process_rhs(compiler, connection)
        comparison = "@@ %s::tsquery" if connection.vendor == "postgresql" else "LIKE %s"
        return f"{column} {comparison}", (*before, *parameters)


class WordBeginsLookup(WordLookup):
    """Rows with a word that begins with a text."""

    lookup_name = "begins"
    mark, end = ":*", ""


WordsField.register_lookup(WordLookup)
WordsField.register_lookup(WordBeginsLookup)
