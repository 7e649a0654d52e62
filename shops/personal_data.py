"""Customers' personal data: what a column holds of a person, its mask, and what an erasure leaves of it.

Each app declares its columns once; masks, exports, erasure, retention and the table in docs/security.md read that.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

MASKED = "•••"
Json = dict[str, Any]
# The values that stand beside one: the other columns of its row, or the other members of its object.
Beside = Mapping[str, Any]
Part: TypeAlias = "Value | Members | Each"  # a column, or a part of a column of JSON


class Kind(StrEnum):
    """The kind of thing that a value tells of a person."""

    NAME = "name"
    ADDRESS = "address"
    CONTACT = "contact"
    FREE_TEXT = "free text"
    CARRIER_TEXT = "carrier's text"
    SEARCH = "search"
    KEY = "key"
    DOCUMENT = "document"


@dataclass(frozen=True)
class Value:
    """One personal value. `standard` words a carrier's text where its code is one of the carriers' tables."""

    kind: Kind
    left: Any = ""
    is_masked: bool = True
    standard: Callable[[Beside], str] | None = None

    def masked(self, value: Any, beside: Beside) -> Any:
        """Return the value as those see it who may not see customers."""
        if not self.is_masked or not value:
            return value
        return (self.standard and self.standard(beside)) or dots(value)

    def erased(self, value: Any) -> Any:
        """Return what an erasure leaves of the value."""
        if value is None:
            return None
        return list(self.left) if isinstance(self.left, tuple) else self.left


@dataclass(frozen=True)
class WebAddress(Value):
    """A web address, of which an erasure leaves the host."""

    left: Any = "its host"

    def erased(self, value: Any) -> Any:
        parts = urlsplit(value or "")
        return f"{parts.scheme}://{parts.netloc}/" if parts.netloc else value


@dataclass(frozen=True)
class Members:
    """An object: its personal members, and those that are nobody's. Any other counts as free text."""

    parts: Mapping[str, Part]
    others: Collection[str] = ()

    def part(self, name: str) -> "Part | None":
        return self.parts.get(name) or (None if name in self.others else Value(Kind.FREE_TEXT))

    def masked(self, value: Json | None, beside: Beside) -> Json | None:
        return value and self.changed(value, lambda part, each: part.masked(each, value))

    def erased(self, value: Json | None) -> Json | None:
        return value and self.changed(value, lambda part, each: part.erased(each))

    def changed(self, value: Json, change: Callable[[Part, Any], Any]) -> Json:
        found = ((name, each, self.part(name)) for name, each in value.items())
        return {name: change(part, each) if part else each for name, each, part in found}


@dataclass(frozen=True)
class Each:
    """A list of parts alike."""

    part: Part

    def masked(self, value: list[Any] | None, beside: Beside) -> list[Any] | None:
        return value and [self.part.masked(each, beside) for each in value]

    def erased(self, value: list[Any] | None) -> list[Any] | None:
        return value and [self.part.erased(each) for each in value]


class Traces(NamedTuple):
    """A customer's row, and what leads to further ones: its order, and its numbers at the time of its creation (ms)."""

    id: str
    order_id: str
    numbers: frozenset[str]
    created_at: int


Columns = Mapping[str, Part]  # the personal columns of a table, by their names


def left_of(columns: Columns, row: Any) -> Json:
    """Return what an erasure leaves of a row's personal columns."""
    return {name: part.erased(getattr(row, name)) for name, part in columns.items()}


def named(names: str, each: Any) -> dict[str, Any]:
    """Declare several names alike."""
    return dict.fromkeys(names.split(), each)


def dots(value: Any) -> Any:
    """Return dots in place of a value, nothing in place of a number; nothing stays nothing."""
    if isinstance(value, list):
        return [dots(each) for each in value]
    return None if isinstance(value, int | float) else MASKED if value else value
