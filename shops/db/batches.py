"""Splits identifiers into batches, each small enough for one statement."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

BATCH_SIZE = 200
MAX_VALUES = 20_000  # of a statement: SQLite takes 32,766 at least, PostgreSQL 65,535
Key = TypeVar("Key", str, int)


def batches(ids: Iterable[Key], size: int = BATCH_SIZE) -> Iterator[list[Key]]:
    """Yield batches in the order of ids. All callers lock rows in that order, which prevents deadlocks."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
