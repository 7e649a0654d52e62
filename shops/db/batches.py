"""Splits identifiers into batches, each small enough for one statement."""

from collections.abc import Iterable, Iterator

BATCH_SIZE = 200


def batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield batches in the order of ids. All callers lock rows in that order, which prevents deadlocks."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), BATCH_SIZE):
        yield ordered[start : start + BATCH_SIZE]
