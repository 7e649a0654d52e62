"""Takes the shop's reports, which imports bring, into the stories of the parcels."""

from datetime import datetime
from typing import Final

from carriers import TRACKERS
from parcels.importing.numbers import add_numbers, own_numbers
from parcels.models import Parcel, ParcelTracking
from parcels.tracking.events import milliseconds, union
from parcels.tracking.following import events_of, is_to_be_followed, keep_events, new_tracking, plan, retell
from parcels.tracking.story import STORY_FIELDS, Report, Story

# What a report can change of the row that follows a parcel.
CHANGED_FIELDS: Final = (
    *("carrier_code", "reported", "carrier_events", "label_numbers", "added_numbers", "expected"),
    *("last_event_at", "followed_since", "next_check_at", "are_texts_erased"),
)


def report_of(parcel: Parcel) -> Report | None:
    """Return the shop's report in a parcel's own columns; None for a label's parcel."""
    if parcel.imported_at is None:
        return None
    return Report(Story.of(parcel), milliseconds(parcel.imported_at))


def reported(parcel: Parcel, tracking: ParcelTracking | None) -> Report | None:
    """Return the shop's report, which is kept beside the parcel once the carrier has added to it."""
    if tracking is None or tracking.reported is None:
        return report_of(parcel)
    return Report(Story(**tracking.reported["story"]), tracking.reported["importedAt"])


def keep_report(tracking: ParcelTracking, report: Report | None) -> None:
    if report is not None:
        story = {name: getattr(report.story, name) for name in STORY_FIELDS}
        tracking.reported = {"story": story, "importedAt": report.imported_at}


def has_carriers_word(tracking: ParcelTracking) -> bool:
    return bool(tracking.carrier_events or tracking.expected)


def take_story(parcel: Parcel, story: Story) -> None:
    for name in STORY_FIELDS:
        setattr(parcel, name, getattr(story, name))


def settle(parcel: Parcel, before: Parcel, tracking: ParcelTracking | None) -> None:
    """Give an imported parcel the story of the newer report, this one or the one before, and of the carrier."""
    report, earlier = report_of(parcel), reported(before, tracking)
    if report is None:
        raise ValueError("not imported")
    is_outdated = earlier is not None and not report.outdates(earlier)
    if is_outdated and earlier is not None:
        report = earlier
        take_story(parcel, report.story)
    if tracking is not None:
        take_numbers(parcel, tracking, [], named=own_numbers(parcel))
    if tracking is not None and has_carriers_word(tracking):
        keep_report(tracking, report)
        retell(parcel, tracking)
        is_outdated = True
    if is_outdated:
        parcel.updated_at = max(parcel.updated_at, before.updated_at)


def follow(parcel: Parcel, tracking: ParcelTracking | None, now: datetime) -> ParcelTracking | None:
    """Return the row that follows a parcel from now on if it is new or changed, else None."""
    is_followed = is_to_be_followed(parcel, now)
    if tracking is None:
        return new_tracking(parcel, now) if is_followed else None
    is_other_carrier = parcel.carrier_code in TRACKERS and tracking.carrier_code != parcel.carrier_code
    if is_other_carrier and not tracking.label_numbers:
        tracking.carrier_code = parcel.carrier_code
    if is_followed == (tracking.next_check_at is not None) and not is_other_carrier:
        return None
    if is_followed and Story.of(parcel).told_at > milliseconds(tracking.followed_since):
        tracking.followed_since = now  # it was given up, and the shop has news of it
    if is_followed or tracking.label_numbers:
        plan(tracking, parcel, now)
    else:
        tracking.next_check_at = None
    return tracking


def take_over(parcel: Parcel, tracking: ParcelTracking | None, label: ParcelTracking, now: datetime) -> ParcelTracking:
    """Let an imported parcel take the place of a label's: its numbers, what its carrier said, and the questions."""
    taking = tracking or new_tracking(parcel, now, label_numbers=[])
    taking.carrier_code = label.carrier_code
    taking.followed_since = min(taking.followed_since, label.followed_since)
    taking.are_texts_erased = taking.are_texts_erased or label.are_texts_erased
    taking.expected = max(filter(None, (taking.expected, label.expected)), key=asked_at, default=None)
    take_numbers(parcel, taking, label.label_numbers, named=own_numbers(parcel) - set(taking.added_numbers))
    report = reported(parcel, taking)
    keep_events(taking, union(events_of(taking), events_of(label)))
    if has_carriers_word(taking):
        keep_report(taking, report)
        retell(parcel, taking)
        parcel.updated_at = max(parcel.updated_at, label.parcel.updated_at)
    plan(taking, parcel, now)
    taking.next_check_at = min(filter(None, (taking.next_check_at, label.next_check_at)), default=None)
    return taking


def take_numbers(parcel: Parcel, tracking: ParcelTracking, numbers: list[str], *, named: set[str]) -> None:
    """Let a parcel have a label's numbers beside those that the shop names."""
    tracking.label_numbers = list(dict.fromkeys([*tracking.label_numbers, *numbers]))
    tracking.added_numbers = [number for number in tracking.label_numbers if number not in named]
    add_numbers(parcel, tracking.label_numbers)


def give_up(parcel: Parcel, tracking: ParcelTracking, numbers: set[str]) -> ParcelTracking:
    """Take numbers of its label off a parcel, as another one names them; return what its carrier said of them."""
    part = new_tracking(parcel, tracking.followed_since, label_numbers=[*numbers])
    part.parcel = parcel
    part.carrier_code, part.are_texts_erased = tracking.carrier_code, tracking.are_texts_erased
    part.next_check_at = tracking.next_check_at
    keep_events(part, [event for event in events_of(tracking) if event.number in numbers])
    for owner, name in ((tracking, "label_numbers"), (tracking, "added_numbers"), (parcel, "tracking_numbers")):
        setattr(owner, name, [number for number in getattr(owner, name) if number not in numbers])
    if has_carriers_word(tracking):
        retell(parcel, tracking)
    return part


def asked_at(expected: dict[str, int]) -> int:
    return expected["askedAt"]
