"""The story of a parcel: its status, events and dates, told from the shop's report and the carrier's events.

A pure function: the same reports and events tell the same story, in whatever order and batches they came.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self

from carriers.tracking import Status
from parcels.tracking.events import ADVANCE, CarrierEvent

FINAL: Final = frozenset({Status.DELIVERED, Status.RETURNED_TO_SENDER})
Json = dict[str, Any]


@dataclass(frozen=True)
class Story:
    """The story of a parcel, in the columns of its row; times are Unix milliseconds."""

    last_status: str | None = None
    last_status_updated_at: int | None = None
    carrier_last_status: Json | None = None
    estimated_delivery_date_window: Json | None = None
    delivery_date: int | None = None
    end_deposit_date: int | None = None
    events: list[Json] = field(default_factory=list)

    @classmethod
    def of(cls, parcel: Any) -> Self:
        return cls(**{name: getattr(parcel, name) for name in STORY_FIELDS})

    @property
    def told_at(self) -> int:
        """The time that the status counts from; a status without a time yields to any that has one."""
        if self.last_status_updated_at is not None:
            return self.last_status_updated_at
        return max((event["createdAt"] for event in self.events), default=-1)


STORY_FIELDS: Final = tuple(Story.__dataclass_fields__)


@dataclass(frozen=True)
class Report:
    """The story as one import told it; the newest speaks for the shop, of equal ones the one imported later."""

    story: Story
    imported_at: int

    def outdates(self, other: "Report") -> bool:
        return (self.story.told_at, self.imported_at) >= (other.story.told_at, other.imported_at)


class Step(NamedTuple):
    """A status that a number took; the carrier's comes after the shop's of the same time.

    `kept_until` is the end of the deposit of a parcel that waits at a pickup point, where it is known.
    """

    at: int
    is_carrier: bool
    status: Status
    kept_until: int | None = None


class State(NamedTuple):
    """The state of a number after its steps."""

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


def tell(
    *,
    reported: Story | None,
    events: Collection[CarrierEvent],
    expected: Json | None = None,
    bought: Iterable[str] = (),
) -> Story:
    """Tell the story; without a word of the carrier it is the shop's report, unchanged.

    `bought` are the numbers that surely exist, so that one of which the carrier knows nothing holds the parcel back.
    `expected` is the carrier's delivery: `from` and `until`.
    """
    story = reported or Story()
    if expected:
        story = replace(story, estimated_delivery_date_window=window(expected))
    if not events:
        return story
    seen = sorted(events, key=lambda event: event.order)
    shop_steps = list(steps_of(reported))
    step = least_advanced(seen, shop_steps, bought)
    if step and step.is_carrier:
        story = replace(
            story,
            last_status=str(step.status),
            last_status_updated_at=step.at,
            delivery_date=step.at if step.status is Status.DELIVERED else None,
            end_deposit_date=step.kept_until,
        )
    elif step:
        end = step.kept_until or story.end_deposit_date
        story = replace(story, last_status=str(step.status), end_deposit_date=end)
    newest = newest_of(seen[-1], story.carrier_last_status)
    returned_at = min((each.at for each in shop_steps if each.status is Status.RETURN_TO_SENDER), default=inf)
    return replace(story, carrier_last_status=newest, events=history(seen, story.events, returned_at))


def window(expected: Json) -> Json:
    start, end = expected["from"], expected["until"]
    return {"exactDeliveryDay": start, "minimumDeliveryDate": start, "maximumDeliveryDate": end}


def steps_of(reported: Story | None) -> Iterator[Step]:
    """Yield the shop's own steps, of all numbers: its status, and the return that it came after."""
    if reported is None or reported.last_status is None:
        return
    told_at = reported.told_at
    for event in reported.events:
        if event["status"] == Status.RETURN_TO_SENDER and event["createdAt"] < told_at:
            yield Step(event["createdAt"], is_carrier=False, status=Status.RETURN_TO_SENDER)
    status = Status(reported.last_status)
    yield Step(told_at, is_carrier=False, status=status, kept_until=reported.end_deposit_date)


def least_advanced(seen: Iterable[CarrierEvent], shop_steps: list[Step], bought: Iterable[str]) -> Step | None:
    """Return the last step of the number that is the furthest behind: the customer waits for it."""
    by_number: dict[str, list[Step]] = {number: list(shop_steps) for number in bought}
    for event in seen:
        steps = by_number.setdefault(event.number, list(shop_steps))
        if event.status:
            steps.append(Step(event.at, is_carrier=True, status=event.status, kept_until=event.kept_until))
    all_steps = (step for steps in by_number.values() for step in steps)
    first = min(all_steps, key=attrgetter("at", "is_carrier"), default=None)
    if first is None:
        return None
    announced = first._replace(status=Status.FULFILLED, kept_until=None)
    last = [last_step(steps) or announced for steps in by_number.values()]
    return min(last, key=lambda step: (ADVANCE[step.status], -step.at, not step.is_carrier))


def last_step(steps: list[Step]) -> Step | None:
    state = State()
    # Sorting is stable: steps of one time stay in the order of their events.
    in_order = sorted(steps, key=attrgetter("at", "is_carrier"))
    for step in in_order:
        state = state.after(step)
    is_waiting = state.step and state.step.status is Status.WAITING_FOR_PICKUP and not state.is_returning
    return state.step and state.step._replace(kept_until=end_of_deposit(in_order) if is_waiting else None)


def end_of_deposit(in_order: list[Step]) -> int | None:
    """Return the end of the wait that lasts: the first that the carrier told, else the shop's."""
    waiting = list(takewhile(lambda step: step.status is Status.WAITING_FOR_PICKUP, reversed(in_order)))
    known = [step for step in reversed(waiting) if step.kept_until is not None]
    told = min(known, key=lambda step: not step.is_carrier, default=None)
    return told and told.kept_until


def newest_of(event: CarrierEvent, reported: Json | None) -> Json:
    if reported and reported["date"] > event.at:
        return reported
    return {"code": event.code, "description": event.text, "date": event.at}


def history(seen: Iterable[CarrierEvent], reported: list[Json], returned_at: float) -> list[Json]:
    """Merge the events of both, newest first; of one that both report, the notifications are the shop's."""
    notified = {(event["carrierStatusCode"], event["createdAt"]): event for event in reversed(reported)}
    own = [
        as_answered(event, status, notified.pop((event.code, event.at), None))
        for event, status in shown(seen, returned_at)
    ]
    merged = [*reversed(own), *(event for event in reported if is_left(event, notified))]
    return sorted(merged, key=lambda event: event["createdAt"], reverse=True)  # stable


def is_left(event: Json, notified: dict[tuple[str | None, int], Json]) -> bool:
    return (event["carrierStatusCode"], event["createdAt"]) in notified


def shown(seen: Iterable[CarrierEvent], returned_at: float) -> Iterator[tuple[CarrierEvent, Status]]:
    """Yield each event with its status, or with its number's status before it if it has none.

    From `returned_at` on the shop says that the parcel goes back.
    """
    before: dict[str, Status] = {}
    returning: set[str] = set()
    for event in seen:
        status = event.status or before.get(event.number, Status.FULFILLED)
        if status is Status.RETURN_TO_SENDER:
            returning.add(event.number)
        elif status is Status.DELIVERED and (event.number in returning or event.at >= returned_at):
            status = Status.RETURNED_TO_SENDER
        before[event.number] = status
        yield event, status


def as_answered(event: CarrierEvent, status: Status, reported: Json | None) -> Json:
    told = reported or {"isNotificationSkipped": True, "notifications": []}
    return {
        "status": str(status),
        "createdAt": event.at,
        "label": event.text,
        "carrierStatusCode": event.code,
        "isNotificationSkipped": told["isNotificationSkipped"],
        "notifications": told["notifications"],
    }


def has_moved(events: Iterable[CarrierEvent]) -> bool:
    """Tell if the carrier reports more than that the parcel was announced, as it does of a cancelled one too."""
    return any(event.status not in (None, Status.FULFILLED) for event in events)
