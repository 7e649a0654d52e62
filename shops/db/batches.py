"""Identifiers in batches, each small enough for one statement."""

from collections.abc import Iterable, Iterator

BATCH_SIZE = 200


def batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """In the order of ids, in which all take their locks, so that two never wait for each other in a circle."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), BATCH_SIZE):
        yield ordered[start : start + BATCH_SIZE]
