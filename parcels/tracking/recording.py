"""Records the carriers' answers: into the row that follows a parcel, and as its story into the parcel."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F

from carriers.tracking import TrackingAnswer
from parcels.models import Parcel, ParcelTracking, UnlistedEventCode
from parcels.tracking import metrics
from parcels.tracking.changes import StatusChange, status_changed
from parcels.tracking.events import CarrierEvent, milliseconds, union
from parcels.tracking.following import events_of, keep_events, plan, retell
from parcels.tracking.reporting import keep_report, reported
from parcels.tracking.story import STORY_FIELDS, Story, has_moved

# A number is given out again after some 13 months: what is so much older than the parcel is another one's.
OLDER_THAN_THE_PARCEL: Final = timedelta(days=30)
MAX_TEXT_LENGTH: Final = 255
QUESTION_FIELDS: Final = ("checked_at", "outcome", "leased_until", "failures", "next_check_at")
NEWS_FIELDS: Final = ("reported", "carrier_events", "expected", "last_event_at")
TRACKING_FIELDS: Final = (
    *("carrier_code", "label_numbers", "are_texts_erased", "followed_since"),
    *QUESTION_FIELDS,
    *NEWS_FIELDS,
)
PARCEL_FIELDS: Final = (
    *("id", "shop", "tracking_id", "tracking_numbers", "created_at", "updated_at", "imported_at", "is_withdrawn"),
    *STORY_FIELDS,
)


@transaction.atomic
def record(parcel_id: str, answers: Sequence[TrackingAnswer], *, outcome: str, now: datetime) -> None:
    """Record the answers for a parcel's numbers, plan the next question and end the lease.

    A parcel that an import or the erasure holds meanwhile is left as it is: it is due again when the lease ends.
    """
    tracking = locked(parcel_id)
    if tracking is None:
        return
    known = events_of(tracking)
    events = union(known, reported_events(tracking.parcel, answers))
    new = {event.key for event in events} - {event.key for event in known}
    is_expected_anew = keep_expected(tracking, answers, now)
    is_news = events != known or is_expected_anew
    if is_news:
        keep_report(tracking, reported(tracking.parcel, tracking))
        keep_events(tracking, events)
        write_story(tracking, now)
        count([event for event in events if event.key in new], tracking.carrier_code, now)
    tracking.checked_at, tracking.outcome = now, outcome
    tracking.leased_until, tracking.failures = None, 0
    plan(tracking, tracking.parcel, now)
    tracking.save(update_fields=[*QUESTION_FIELDS, *(NEWS_FIELDS if is_news else ())])


def locked(parcel_id: str) -> ParcelTracking | None:
    rows = ParcelTracking.objects.filter(pk=parcel_id).select_related("parcel")
    narrow = rows.only(*TRACKING_FIELDS, *(f"parcel__{name}" for name in PARCEL_FIELDS))
    found: ParcelTracking | None = narrow.select_for_update(of=("self", "parcel"), skip_locked=True).first()
    return found


def reported_events(parcel: Parcel, answers: Iterable[TrackingAnswer]) -> list[CarrierEvent]:
    oldest = parcel.created_at - OLDER_THAN_THE_PARCEL // timedelta(milliseconds=1)
    found = (CarrierEvent.reported(event) for answer in answers for event in answer.events)
    return [event for event in found if event.at >= oldest]


def keep_expected(tracking: ParcelTracking, answers: Iterable[TrackingAnswer], now: datetime) -> bool:
    """Keep the delivery that the carrier expects, the widest of all numbers; tell if it is another one.

    An answer that comes later than a newer one does not replace it.
    """
    starts = [answer.expected_from for answer in answers if answer.expected_from]
    ends = [answer.expected_until for answer in answers if answer.expected_until]
    if not starts and not ends:
        return False
    told = {"from": milliseconds(min(starts or ends)), "until": milliseconds(max(ends or starts))}
    before: dict[str, Any] = tracking.expected or {"askedAt": 0}
    if before["askedAt"] > milliseconds(now):
        return False
    tracking.expected = told | {"askedAt": milliseconds(now)}
    return {name: before.get(name) for name in told} != told


def write_story(tracking: ParcelTracking, now: datetime) -> None:
    """Tell the story into the parcel, and write what changed; a withdrawn parcel comes back when it has moved."""
    parcel = tracking.parcel
    before = Story.of(parcel)
    changed = retell(parcel, tracking)
    if parcel.is_withdrawn and has_moved(events_of(tracking)):
        parcel.is_withdrawn = False
        changed.append("is_withdrawn")
    if not changed:
        return
    parcel.updated_at = max(parcel.updated_at, milliseconds(now))
    parcel.save(update_fields=[*changed, "updated_at"])
    change = StatusChange(
        parcel.id, parcel.shop_id, before.last_status, parcel.last_status, parcel.last_status_updated_at
    )
    status_changed([change])


def count(new: Iterable[CarrierEvent], carrier_code: str, now: datetime) -> None:
    """Count the events that are reported for the first time, and those whose code is unlisted by code."""
    unlisted: Counter[str] = Counter()
    texts: dict[str, str] = {}
    for event in new:
        metrics.EVENTS.labels(carrier_code, event.status or "none").inc()
        if not event.is_listed:
            unlisted[event.code] += 1
            texts[event.code] = event.text[:MAX_TEXT_LENGTH]
    for code in sorted(unlisted):
        metrics.UNLISTED.labels(carrier_code).inc(unlisted[code])
        count_unlisted(carrier_code, code, texts[code], unlisted[code], now)


def count_unlisted(carrier_code: str, code: str, text: str, times: int, now: datetime) -> None:
    """Add to a code's row; of two processes that meet it first at once, one makes the row and both are counted."""
    row = UnlistedEventCode(carrier_code=carrier_code, code=code, text=text, first_seen_at=now, last_seen_at=now)
    rows = UnlistedEventCode.objects.filter(carrier_code=carrier_code, code=code)
    added = {"count": F("count") + times, "last_seen_at": now}
    if not rows.update(**added):
        UnlistedEventCode.objects.bulk_create([row], ignore_conflicts=True)
        rows.update(**added)
