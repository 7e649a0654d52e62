"""A parcel's status, events and dates, derived from the shop's report and its numbers' events.

`derive` is a pure function: the same reports and events give the same timeline, in whatever order and batches they
came. `update` and `recompute` write it: everything that changes a number or an event calls one of them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, Self

from django.db.models import QuerySet

from carriers.tracking import Status
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.tracking.changes import SENT_FIELDS, StatusChange, emit
from parcels.tracking.events import CarrierEvent, milliseconds
from parcels.tracking.steps import Step, last_step, least_advanced, moved_numbers, shown, step_of

Json = dict[str, Any]


@dataclass(frozen=True)
class Timeline:
    """The events and the status of a parcel, in the columns of its row; times are Unix milliseconds."""

    last_status: str | None = None
    last_status_updated_at: int | None = None
    carrier_last_status: Json | None = None
    estimated_delivery_date_window: Json | None = None
    delivery_date: int | None = None
    end_deposit_date: int | None = None
    events: list[Json] = field(default_factory=list)

    @classmethod
    def of(cls, parcel: Any) -> Self:
        return cls(*timeline_of(parcel))

    @property
    def as_of(self) -> int:
        """The time that the status counts from; a status without a time yields to any that has one."""
        if self.last_status_updated_at is not None:
            return self.last_status_updated_at
        return max((event["createdAt"] for event in self.events), default=-1)


TIMELINE_FIELDS: Final = tuple(Timeline.__dataclass_fields__)
timeline_of = attrgetter(*TIMELINE_FIELDS)
SHOWN_FIELDS: Final = ("tracking_id", "tracking_numbers", *TIMELINE_FIELDS)
DERIVED_FIELDS: Final = ("told_status", "reported", "handed_in_at", "is_withdrawn", *SHOWN_FIELDS)


def derive(
    *,
    reported: Timeline | None,
    events: Collection[CarrierEvent],
    expected: Json | None = None,
    bought: Iterable[str] = (),
    cancelled: Collection[str] = (),
) -> Timeline:
    """Derive the timeline; if the carrier has reported nothing, it is the shop's report, unchanged.

    `bought` are the numbers that surely exist, so one of which the carrier knows nothing holds the parcel back;
    `cancelled` ones hold nothing back. `expected` is the carrier's delivery: `from` and `until`.
    """
    timeline = reported or Timeline()
    if expected:
        timeline = replace(timeline, estimated_delivery_date_window=window(expected))
    if not events:
        return timeline
    seen = sorted(events, key=lambda event: event.order)
    shop_steps = list(steps_of(reported))
    step = least_advanced(seen, shop_steps, bought, cancelled)
    if step and step.is_carrier:
        timeline = replace(
            timeline,
            last_status=str(step.status),
            last_status_updated_at=step.at,
            delivery_date=step.at if step.status is Status.DELIVERED else None,
            end_deposit_date=step.kept_until,
        )
    elif step:
        end = step.kept_until or timeline.end_deposit_date
        delivered_at = timeline.delivery_date if step.status == timeline.last_status else None
        timeline = replace(timeline, last_status=str(step.status), delivery_date=delivered_at, end_deposit_date=end)
    newest = timeline.carrier_last_status
    last = seen[-1]
    if not newest or newest["date"] <= last.at:
        newest = {"code": last.code, "description": last.text, "date": last.at}
    return replace(timeline, carrier_last_status=newest, events=history(seen, timeline.events, shop_steps))


def window(expected: Json) -> Json:
    start, end = expected["from"], expected["until"]
    return {"exactDeliveryDay": start, "minimumDeliveryDate": start, "maximumDeliveryDate": end}


def steps_of(reported: Timeline | None) -> Iterator[Step]:
    """Yield the shop's own steps, of all numbers: its status, and the return that it came after."""
    if reported is None or reported.last_status is None:
        return
    as_of = reported.as_of
    for event in reported.events:
        if event["status"] == Status.RETURN_TO_SENDER and event["createdAt"] < as_of:
            yield Step(event["createdAt"], is_carrier=False, status=Status.RETURN_TO_SENDER)
    status = Status(reported.last_status)
    yield Step(as_of, is_carrier=False, status=status, kept_until=reported.end_deposit_date)


def history(seen: Iterable[CarrierEvent], reported: list[Json], shop_steps: Collection[Step]) -> list[Json]:
    """Merge the events of both, newest first; an event that both report has the shop's notifications."""
    notified = {(event["carrierStatusCode"], event["createdAt"]): event for event in reversed(reported)}
    own = [
        as_answered(event, status, notified.pop((event.code, event.at), None))
        for event, status in shown(seen, shop_steps)
    ]
    left = (event for event in reported if (event["carrierStatusCode"], event["createdAt"]) in notified)
    return sorted([*reversed(own), *left], key=lambda event: event["createdAt"], reverse=True)  # stable


def as_answered(event: CarrierEvent, status: Status, reported: Json | None) -> Json:
    flags = reported or {"isNotificationSkipped": True, "notifications": []}
    return {
        "status": str(status),
        "createdAt": event.at,
        "label": event.text,
        "carrierStatusCode": event.code,
        "isNotificationSkipped": flags["isNotificationSkipped"],
        "notifications": flags["notifications"],
    }


# --- Of a parcel and its numbers ---


def has_carrier_data(numbers: Iterable[TrackingNumber]) -> bool:
    return any(each.events or each.expected for each in numbers)


def events_of(numbers: Iterable[TrackingNumber]) -> list[CarrierEvent]:
    return [CarrierEvent.stored(each.number, row) for each in numbers for row in each.events]


def reported_by_shop(parcel: Parcel) -> Timeline | None:
    """Return the shop's report; once the parcel's own columns differ from it, it is kept beside them."""
    if parcel.reported is not None:
        return Timeline(**parcel.reported["story"])
    return None if parcel.imported_at is None else Timeline.of(parcel)


def status_of(number: TrackingNumber, reported: Timeline | None) -> Status | None:
    steps = (step for event in events_of([number]) for step in step_of(event))
    last = last_step([*steps_of(reported), *steps])
    return last and last.status


def expected_by_carrier(numbers: Iterable[TrackingNumber]) -> Json | None:
    """Return the delivery that the carriers expect, the widest of all numbers."""
    known = [each.expected for each in numbers if each.expected]
    if not known:
        return None
    return {"from": min(each["from"] for each in known), "until": max(each["until"] for each in known)}


def update(parcel: Parcel, numbers: Collection[TrackingNumber]) -> None:
    """Set a parcel's numbers and timeline; one that is withdrawn comes back when it has moved."""
    own, events = {each.number for each in numbers}, events_of(numbers)
    listed = [number for number in parcel.tracking_numbers if number in own]
    added = [each.number for each in numbers if each.is_added and each.number not in listed]
    parcel.tracking_numbers = [*listed, *added]
    if parcel.tracking_id not in own and parcel.tracking_numbers:
        parcel.tracking_id = parcel.tracking_numbers[0]
    save_report(parcel)
    moved = moved_numbers(events)
    derived = derive(
        reported=reported_by_shop(parcel),
        events=events,
        expected=expected_by_carrier(numbers),
        bought=[each.number for each in numbers if each.state == NumberState.BOUGHT],
        cancelled=[each.number for each in numbers if each.state == NumberState.CANCELLED and each.number not in moved],
    )
    set_timeline(parcel, derived)
    parcel.handed_in_at = handed_in(parcel)
    parcel.is_withdrawn = parcel.is_withdrawn and not moved


def handed_in(parcel: Parcel) -> int | None:
    """Return the time of the first event beyond an announcement; without one, of a status beyond it."""
    scans = [event["createdAt"] for event in parcel.events if event["status"] != Status.FULFILLED]
    if scans or parcel.last_status in (None, Status.FULFILLED):
        return min(scans, default=None)
    return parcel.created_at if parcel.last_status_updated_at is None else parcel.last_status_updated_at


def set_timeline(parcel: Parcel, timeline: Timeline) -> None:
    for name in TIMELINE_FIELDS:
        setattr(parcel, name, getattr(timeline, name))


def save_report(parcel: Parcel) -> None:
    """Keep the shop's import beside the parcel's own columns before they change."""
    if parcel.imported_at is not None and parcel.reported is None:
        since = {"importedAt": milliseconds(parcel.imported_at)}  # for the imports of the version before
        parcel.reported = as_stored(Timeline.of(parcel), parcel.updated_at) | since


def as_stored(reported: Timeline, updated_at: int) -> Json:
    return {"story": {name: getattr(reported, name) for name in TIMELINE_FIELDS}, "updatedAt": updated_at}


def locked(parcel_ids: Iterable[str]) -> QuerySet[Parcel]:
    """Lock parcels, in the order in which all lock them."""
    rows: QuerySet[Parcel] = Parcel.objects.filter(id__in=list(parcel_ids)).order_by("id")
    return rows.select_for_update()


def recompute(
    parcel_ids: Iterable[str], now: datetime, *, is_withdrawn: bool | None = None, is_silent: bool = False
) -> None:
    """Derive parcels anew, write what changed, and emit each status that became another; within a transaction.

    `is_withdrawn` hides them, or shows them again.
    """
    narrow = ("shop_id", "created_at", "updated_at", "imported_at", *DERIVED_FIELDS, *SENT_FIELDS)
    parcels = list(locked(parcel_ids).only(*narrow))
    numbers: defaultdict[str, list[TrackingNumber]] = defaultdict(list)
    for each in TrackingNumber.objects.filter(parcel__id__in=[parcel.id for parcel in parcels]):
        numbers[each.parcel_id].append(each)
    emit(list(changes(parcels, numbers, now, is_withdrawn=is_withdrawn)), is_silent=is_silent)


def changes(
    parcels: Iterable[Parcel], numbers: Mapping[str, list[TrackingNumber]], now: datetime, *, is_withdrawn: bool | None
) -> Iterator[StatusChange]:
    """Write each parcel that changes; yield the status that was emitted last, and the one that it has."""
    for parcel in parcels:
        before = {name: getattr(parcel, name) for name in DERIVED_FIELDS}
        emitted = last_emitted(parcel)
        if is_withdrawn is not None:
            parcel.is_withdrawn = is_withdrawn
        update(parcel, numbers[parcel.id])
        parcel.told_status = (emitted or "") if parcel.is_withdrawn else None
        changed = [name for name in DERIVED_FIELDS if getattr(parcel, name) != before[name]]
        if any(name in SHOWN_FIELDS for name in changed):
            move_time(parcel, now)
            changed.append("updated_at")
        if changed:
            parcel.save(update_fields=changed)
        if not parcel.is_withdrawn:
            yield StatusChange(parcel, emitted)


def move_time(parcel: Parcel, now: datetime) -> None:
    """Move the time of the last change; by a millisecond where a shop's clock is ahead."""
    parcel.updated_at = max(parcel.updated_at + 1, milliseconds(now))


def last_emitted(parcel: Parcel) -> str | None:
    """Return the status that was emitted last: of a withdrawn parcel the one before it was withdrawn."""
    return parcel.last_status if parcel.told_status is None else parcel.told_status or None
