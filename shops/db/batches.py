"""Splits identifiers into batches, each small enough for one statement."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

BATCH_SIZE = 200
Key = TypeVar("Key", str, int)


def batches(ids: Iterable[Key]) -> Iterator[list[Key]]:
    """Yield batches in the order of ids. All callers lock rows in that order, which prevents deadlocks."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), BATCH_SIZE):
        yield ordered[start : start + BATCH_SIZE]
