"""Lays goods into parcels: whole pieces, each parcel within its weight and none left empty.

Pieces of a kind are counted, not listed, and weights are integers, so that an order of 100 times 999 pieces costs what
any other does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Final

MAX_STEPS: Final = 200  # of a search: some 10 ms
MAX_UNITS: Final = 30_000  # of a parcel's weight: grams

Kind = tuple[int, int]  # the weight of a piece, and the number of pieces
Counts = list[list[int]]  # by parcel: the pieces of each kind


def laid(kinds: Sequence[Kind], rooms: Sequence[int]) -> Counts | None:
    """Return the pieces of each kind in each parcel, None where they don't fit or none of MAX_STEPS finds a way.

    In their order where that does, then the heaviest first, then by a search.
    """
    if counts := first_fit(kinds, rooms):
        return counts
    order = sorted(range(len(kinds)), key=lambda kind: -kinds[kind][0])
    heaviest = [kinds[kind] for kind in order]
    counts = first_fit(heaviest, rooms) or Search(heaviest, rooms).run()
    return counts and [[of_parcel[order.index(kind)] for kind in range(len(kinds))] for of_parcel in counts]


def first_fit(kinds: Sequence[Kind], rooms: Sequence[int]) -> Counts | None:
    """Put each piece into the first parcel with room for it, the last ones into parcels that are still empty."""
    counts = [[0] * len(kinds) for _ in rooms]
    left, pieces = list(rooms), sum(quantity for _, quantity in kinds)
    empty = dict.fromkeys(range(len(rooms)))
    for kind, (weight, quantity) in enumerate(kinds):
        start, waiting = 0, quantity  # where one piece of a kind found no room, no other does
        while waiting:
            is_last = pieces <= len(empty)
            choice = empty if is_last else range(start, len(rooms))
            parcel = next((number for number in choice if left[number] >= weight), None)
            if parcel is None:
                return None
            empty.pop(parcel, None)
            fitting = left[parcel] // weight if weight else waiting
            count = 1 if is_last else min(waiting, fitting, max(1, pieces - len(empty)))
            counts[parcel][kind] += count
            left[parcel] -= count * weight
            waiting, pieces, start = waiting - count, pieces - count, start if is_last else parcel
    return None if empty else counts


@dataclass
class Search:
    """Fills one parcel after the other, each with heavy pieces first, and gives the last one what is left.

    The parcels' spare weight is known: a parcel is filled with sums only that leave no more than it unused. Which sums
    the lighter kinds can still make is kept as the bits of an integer, so no branch is followed in vain.
    """

    kinds: Sequence[Kind]  # the heaviest first
    rooms: Sequence[int]
    steps: int = MAX_STEPS

    def run(self) -> Counts | None:
        unit = gcd(*(weight for weight, _ in self.kinds))
        if not unit or max(self.rooms) // unit > MAX_UNITS:
            return None
        self.weights = [weight // unit for weight, _ in self.kinds]
        parcels = sorted(range(len(self.rooms)), key=lambda parcel: self.rooms[parcel])
        found = self.fill([count for _, count in self.kinds], [self.rooms[parcel] // unit for parcel in parcels])
        return found and [found[parcels.index(parcel)] for parcel in range(len(parcels))]

    def fill(self, pieces: list[int], rooms: list[int]) -> Counts | None:
        """Lay these pieces into these parcels."""
        spare = sum(rooms) - self.weigh(pieces)
        if spare < 0 or sum(pieces) < len(rooms):
            return None
        if len(rooms) == 1:
            return [pieces]
        room, *others = rooms
        for taken in self.fillings(pieces, max(1, room - spare), room):
            self.steps -= 1
            if self.steps < 0:
                return None
            rest = self.fill([have - take for have, take in zip(pieces, taken, strict=True)], others)
            if rest is not None:
                return [taken, *rest]
        return None

    def weigh(self, pieces: Sequence[int]) -> int:
        return sum(weight * count for weight, count in zip(self.weights, pieces, strict=True))

    def fillings(self, pieces: list[int], low: int, high: int) -> Iterator[list[int]]:
        """Yield the choices of pieces that weigh from `low` to `high`."""
        sums = self.sums(pieces, high)

        def choose(kind: int, low: int, high: int) -> Iterator[list[int]]:
            if not (sums[kind] & ((1 << (high + 1)) - 1)) >> max(0, low):
                return
            if kind == len(pieces):
                yield []
                return
            weight = self.weights[kind]
            for count in range(min(pieces[kind], high // weight if weight else pieces[kind]), -1, -1):
                for lighter in choose(kind + 1, low - count * weight, high - count * weight):
                    yield [count, *lighter]

        return choose(0, low, high)

    def sums(self, pieces: list[int], high: int) -> list[int]:
        """Return for each kind, as bits, the weights up to `high` that its pieces and those of lighter kinds make."""
        within = (1 << (high + 1)) - 1
        made = [1]
        for weight, quantity in reversed(list(zip(self.weights, pieces, strict=True))):
            bits, part, count = made[-1], 1, quantity
            while part <= count:  # 1, 2, 4, ... pieces make any number
                bits |= (bits << (part * weight)) & within
                count -= part
                part *= 2
            bits |= (bits << (count * weight)) & within
            made.append(bits)
        return made[::-1]
