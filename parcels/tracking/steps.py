"""The statuses that each number took, by its carrier's events and the shop's report."""

from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile
from operator import attrgetter
from typing import Final, NamedTuple

from carriers.tracking import Status
from parcels.tracking.events import ADVANCE, CarrierEvent

FINAL: Final = frozenset({Status.DELIVERED, Status.RETURNED_TO_SENDER})


class Step(NamedTuple):
    """A status that a number took; the carrier's comes after the shop's of the same time.

    `kept_until` is the end of the deposit of a parcel that waits at a pickup point, where it is known.
    """

    at: int
    is_carrier: bool
    status: Status
    kept_until: int | None = None


ANNOUNCED: Final = Step(-1, is_carrier=False, status=Status.FULFILLED)  # before all that is known


class State(NamedTuple):
    step: Step | None = None
    is_returning: bool = False

    def after(self, step: Step) -> "State":
        is_returned = self.is_returning and step.status is Status.DELIVERED
        is_fetched_back = step.status is Status.RETURN_TO_SENDER
        if self.step and self.step.status in FINAL:
            is_changed = is_fetched_back and self.step.status is Status.DELIVERED
            return State(step, is_returning=True) if is_changed else self
        taken = step._replace(status=Status.RETURNED_TO_SENDER) if is_returned else step
        return State(taken, self.is_returning or is_fetched_back)


def step_of(event: CarrierEvent) -> Iterator[Step]:
    """Yield the step that an event is, if its code has a status."""
    if event.status:
        yield Step(event.at, is_carrier=True, status=event.status, kept_until=event.kept_until)


def least_advanced(
    seen: Iterable[CarrierEvent], shop_steps: list[Step], bought: Iterable[str], cancelled: Collection[str]
) -> Step | None:
    """Return the last step of the number that is furthest behind, as the customer waits for it.

    Nobody waits for a cancelled number, unless there is no other.
    """
    by_number: dict[str, list[Step]] = {number: list(shop_steps) for number in bought}
    for event in seen:
        by_number.setdefault(event.number, list(shop_steps)).extend(step_of(event))
    awaited = {number: steps for number, steps in by_number.items() if number not in cancelled} or by_number
    all_steps = (step for steps in awaited.values() for step in steps)
    first = min(all_steps, key=attrgetter("at", "is_carrier"), default=None)
    if first is None:
        return None
    announced = first._replace(status=Status.FULFILLED, kept_until=None)
    last = [last_step(steps) or announced for steps in awaited.values()]
    return min(last, key=lambda step: (ADVANCE[step.status], -step.at, not step.is_carrier))


def last_step(steps: Iterable[Step]) -> Step | None:
    state = State()
    # Sorting is stable: steps of one time stay in the order of their events.
    in_order = sorted(steps, key=attrgetter("at", "is_carrier"))
    for step in in_order:
        state = state.after(step)
    is_waiting = state.step and state.step.status is Status.WAITING_FOR_PICKUP and not state.is_returning
    return state.step and state.step._replace(kept_until=end_of_deposit(in_order) if is_waiting else None)


def end_of_deposit(in_order: list[Step]) -> int | None:
    """Return the end of the present wait: the first that the carrier reported, else the shop's."""
    waiting = list(takewhile(lambda step: step.status is Status.WAITING_FOR_PICKUP, reversed(in_order)))
    known = [step for step in reversed(waiting) if step.kept_until is not None]
    first = min(known, key=lambda step: not step.is_carrier, default=None)
    return first and first.kept_until


def shown(seen: Iterable[CarrierEvent], shop_steps: Collection[Step]) -> Iterator[tuple[CarrierEvent, Status]]:
    """Yield each event with its status or, without one, that of the event before: its number's or the shop's."""
    before: dict[str, Step] = {}
    returning: set[str] = set()
    for event in seen:
        said = [step for step in shop_steps if step.at <= event.at]
        last = max((*said, before.get(event.number, ANNOUNCED)), key=attrgetter("at", "is_carrier"))
        status = event.status or last.status
        is_returning = event.number in returning or any(step.status is Status.RETURN_TO_SENDER for step in said)
        if status is Status.RETURN_TO_SENDER:
            returning.add(event.number)
        elif status is Status.DELIVERED and is_returning:
            status = Status.RETURNED_TO_SENDER
        before[event.number] = Step(event.at, is_carrier=True, status=status)
        yield event, status


def moved_numbers(events: Iterable[CarrierEvent]) -> set[str]:
    """Return the numbers of which more than an announcement is reported, which cancelled parcels have too."""
    return {event.number for event in events if event.status not in (None, Status.FULFILLED)}
