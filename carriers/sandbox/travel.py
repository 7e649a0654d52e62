"""The way of one parcel: its journey's steps at their times, on a clock that may run faster."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from carriers.sandbox.countries import PARIS
from carriers.sandbox.journeys import Step, steps
from carriers.sandbox.parcel import Purchase

TICK_S = 0.002  # between steps that one call takes together


@dataclass(frozen=True)
class Change:
    """A change by the control endpoint: another journey from here on, or some steps taken at once."""

    at_s: float
    journey: str = ""
    steps: int = 0


@dataclass(frozen=True)
class Happening:
    """A step that a parcel has taken."""

    step: Step
    at_s: float

    @property
    def at(self) -> datetime:
        """The time in Paris, to the millisecond."""
        return datetime.fromtimestamp(int(self.at_s * 1000) / 1000, PARIS)


class Way:
    """The events of a parcel until a moment; one that was told stays as it was told."""

    def __init__(self, parcel: Purchase, changes: Sequence[Change], now_s: float) -> None:
        self._parcel = parcel
        self._journey = parcel.journey
        self.happened: list[Happening] = []
        for change in changes:
            self._travel(change.at_s)
            self._journey = change.journey or self._journey
            self._skip(change)
        self._travel(now_s)

    def ahead(self) -> list[Happening]:
        """Return the steps to come with the times at which they will."""
        last = self.happened[-1] if self.happened else None
        start_s, offset_s = (last.at_s, last.step.offset_s) if last else (self._parcel.made_at_s, 0.0)
        return [
            Happening(step, start_s + (step.offset_s - offset_s) / self._parcel.pace)
            for step in steps(self._journey, self._parcel.carrier)
            if last is None or step.offset_s > offset_s
        ]

    def _travel(self, until_s: float) -> None:
        self.happened += [happening for happening in self.ahead() if happening.at_s <= until_s]

    def _skip(self, change: Change) -> None:
        taken = self.ahead()[: change.steps]
        first_s = change.at_s - TICK_S * (len(taken) - 1)
        if self.happened:
            first_s = max(first_s, self.happened[-1].at_s + TICK_S)
        self.happened += [Happening(future.step, first_s + TICK_S * rank) for rank, future in enumerate(taken)]
