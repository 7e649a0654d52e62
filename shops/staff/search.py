"""Rows that a text from a search box may mean: found along indexes only, whatever the tables' size."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower

from shops.db.indexes import has_both_cases
from shops.staff.recipients import MAX_WORDS, RecipientSearch

LISTED = 25
READ_AT_MOST = 200  # rows that a common name has: the newest of these are listed
MIN_BEGINNING = 3  # characters; a shorter text is looked for as a whole only


class Found(NamedTuple):
    """The keys of rows that a text may mean, by a number or id of theirs and by their recipient."""

    by_number: set[str]
    by_recipient: set[str]

    @property
    def keys(self) -> set[str]:
        return self.by_number | self.by_recipient


def spellings(text: str) -> set[str]:
    """Return the forms that a text may be stored in: with and without its spaces, each as typed, lower and upper."""
    written = {text, "".join(text.split())}
    cases = (str, str.lower, str.upper, lower, upper)
    return {case(form) for form in written for case in cases}


def lower(text: str) -> str:
    """Return a text's small letters as the databases make those of keys: from A to Z."""
    return text.translate(str.maketrans(ascii_uppercase, ascii_lowercase))


def upper(text: str) -> str:
    return text.translate(str.maketrans(ascii_lowercase, ascii_uppercase))


class Key(NamedTuple):
    """A number or id that rows are found by, along its index, and along that of keys in mixed case if there is one."""

    rows: QuerySet[Any, Any]
    column: str
    names: str = "pk"  # the column with the key of the row that is found
    spelled: Callable[[str], set[str]] = spellings
    has_mixed: bool = True

    def whole(self, text: str) -> Iterator[QuerySet[Any, Any]]:
        typed, rows = self.spelled(text), self.rows.order_by()
        yield rows.filter(**{f"{self.column}__in": typed}).values(self.names)
        if self.has_mixed:
            yield self.lowered().filter(lowered__in={*map(lower, typed)}).order_by().values(self.names)

    def beginning(self, text: str) -> set[str]:
        """Return keys of rows that begin with the text: what no spelling in one case finds is among the mixed."""
        typed = self.spelled(text)
        found = begin_with(self.rows, self.column, typed, self.names)
        if self.has_mixed:
            found |= begin_with(self.lowered(), "lowered", {*map(lower, typed)}, self.names)
        return found

    def lowered(self) -> QuerySet[Any, Any]:
        mixed: QuerySet[Any, Any] = self.rows.filter(has_both_cases(self.column)).annotate(lowered=Lower(self.column))
        return mixed


class RowSearch(NamedTuple):
    """The ways to find rows of one model by what staff type."""

    rows: QuerySet[Any, Any]
    keys: Sequence[Key]
    in_town: Callable[[str], Q]
    whole_too: Callable[[str], Sequence[QuerySet[Any, Any]]] = lambda _text: ()
    beginning_too: Callable[[str], set[str]] = lambda _text: set()

    def whole(self, text: str) -> QuerySet[Any, Any]:
        """Find the keys of all shops' rows with this number or id: each part is an exact look-up along an index."""
        first, *others = (part for key in self.keys for part in key.whole(text))
        return first.union(*others, *self.whole_too(text), all=True)

    def find(self, text: str, *, is_personal: bool) -> Found:
        """Find by a whole number or id, else by its beginning; and by the recipient, if that may be seen."""
        by_number = set(self.whole(text).values_list("pk", flat=True)[:READ_AT_MOST])
        if not by_number and len(text) >= MIN_BEGINNING:
            by_number = self.beginning_too(text).union(*(key.beginning(text) for key in self.keys))
        return Found(by_number, of_recipient(self.rows, text, self.in_town) if is_personal else set())


def begin_with(rows: QuerySet[Any, Any], column: str, texts: Iterable[str], key: str) -> set[str]:
    """Return keys of rows whose column begins with one of the texts.

    Each text is a query of its own, in the column's order: PostgreSQL then reads a part of its index and stops at the
    limit, however many rows begin alike.
    """
    found: set[str] = set()
    for text in texts:
        alike = rows.filter(**{f"{column}__startswith": text}).order_by(column)
        found.update(alike.values_list(key, flat=True)[: LISTED + 1])
    return found


def of_recipient(rows: QuerySet[Any, Any], text: str, in_town: Callable[[str], Q]) -> set[str]:
    """Return keys of rows whose recipient's name, postal code, phone or e-mail is the text, or else begins with it.

    Else its last words may be the town's. PostgreSQL reads a whole word's rows faster than those of all words that
    begin so, and stops at the limit.
    """
    recipient, words = RecipientSearch(text), text.split()[:MAX_WORDS]
    found: set[str] = set()
    for begins in (False, True):
        if len(found) <= LISTED:
            found.update(any_of_them(rows.filter(recipient.condition(begins=begins))))
    for place in range(len(words) - 1, 0, -1):
        if not found:
            condition = RecipientSearch(" ".join(words[:place])).condition(begins=False)
            found.update(any_of_them(rows.filter(condition & in_town(" ".join(words[place:])))))
    return found


def any_of_them(rows: QuerySet[Any, Any]) -> Iterator[str]:
    """Yield keys of some rows, found along the index.

    With a plain limit PostgreSQL would rather read the table until it has found enough, and finds nothing for long.
    """
    try:
        sql, parameters = rows.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:  # no row can be meant
        return
    statement = f"WITH found AS MATERIALIZED ({sql}) SELECT * FROM found LIMIT {READ_AT_MOST}"  # noqa: S608 - Django's  # nosec B608
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        yield from (key for (key,) in cursor.fetchall())
