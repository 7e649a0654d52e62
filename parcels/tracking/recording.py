"""Records the carriers' answers: into the row that follows a parcel, and as its story into the parcel."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import F

from carriers.tracking import TrackingAnswer
from parcels.models import Parcel, ParcelTracking, UnlistedEventCode
from parcels.tracking import metrics
from parcels.tracking.changes import StatusChange, status_changed
from parcels.tracking.events import CarrierEvent, milliseconds, union
from parcels.tracking.following import events_of, keep_events, plan, retell, without_texts
from parcels.tracking.reporting import keep_report, reported
from parcels.tracking.story import STORY_FIELDS, Story, has_moved

# A number is given out again after some 13 months: what is so much older than the parcel is another one's.
OLDER_THAN_THE_PARCEL: Final = timedelta(days=30)
MAX_TEXT_LENGTH: Final = 255
# By hand, as one statement that the ORM would build for each row takes longer than all else.
ANSWERED: Final = """
    UPDATE parcels_parceltracking
    SET checked_at = %s, outcome = %s, next_check_at = %s, leased_until = NULL, failures = 0
    WHERE parcel_id = %s"""
NEWS_FIELDS: Final = ("reported", "carrier_events", "expected", "last_event_at")
TRACKING_FIELDS: Final = (
    *("carrier_code", "label_numbers", "are_texts_erased", "followed_since"),
    *NEWS_FIELDS,
)
PARCEL_FIELDS: Final = (
    *("id", "shop", "tracking_id", "tracking_numbers", "created_at", "updated_at", "imported_at", "is_withdrawn"),
    *STORY_FIELDS,
)


def record(parcel_id: str, answers: Sequence[TrackingAnswer], *, outcome: str, now: datetime) -> None:
    """Record the answers for one parcel's numbers."""
    record_all({parcel_id: (answers, outcome)}, now=now)


@transaction.atomic
def record_all(answered: Mapping[str, tuple[Sequence[TrackingAnswer], str]], *, now: datetime) -> None:
    """Record the answers for the numbers of parcels, each with an outcome; plan the next questions, end the leases.

    One statement reads all rows, in the order of ids; of most parcels there is no news, and one more writes these. A
    parcel that an import or the erasure holds meanwhile is left as it is: it is due again when the lease ends.
    """
    unlisted: Counter[tuple[str, str, str]] = Counter()
    trackings = locked(answered)
    for tracking in trackings:
        answers, tracking.outcome = answered[tracking.pk]
        new = take_news(tracking, answers, now)
        unlisted.update(counted(new, tracking.carrier_code))
        plan(tracking, tracking.parcel, now)
    write_questions(trackings, now)
    for (carrier_code, code, text), times in sorted(unlisted.items()):
        count_unlisted(carrier_code, code, text, times, now)


def take_news(tracking: ParcelTracking, answers: Sequence[TrackingAnswer], now: datetime) -> list[CarrierEvent]:
    """Write what is new in the answers, and the story that it tells; return the new events."""
    known = events_of(tracking)
    events = union(known, without_texts(tracking, reported_events(tracking.parcel, answers)))
    is_expected_anew = keep_expected(tracking, answers, now)
    if events == known and not is_expected_anew:
        return []
    keep_report(tracking, reported(tracking.parcel, tracking))
    keep_events(tracking, events)
    write_story(tracking, now)
    tracking.save(update_fields=NEWS_FIELDS)
    keys = {event.key for event in known}
    return [event for event in events if event.key not in keys]


def write_questions(trackings: Iterable[ParcelTracking], now: datetime) -> None:
    """Note that the carrier has answered, and end the leases."""
    adapt = connection.ops.adapt_datetimefield_value
    rows = [(adapt(now), str(each.outcome), adapt(each.next_check_at), each.pk) for each in trackings]
    with connection.cursor() as cursor:
        cursor.executemany(ANSWERED, rows)


def locked(ids: Iterable[str]) -> list[ParcelTracking]:
    rows = ParcelTracking.objects.filter(pk__in=list(ids)).order_by("pk").select_related("parcel")
    narrow = rows.only(*TRACKING_FIELDS, *(f"parcel__{name}" for name in PARCEL_FIELDS))
    return list(narrow.select_for_update(of=("self", "parcel"), skip_locked=True))


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


def counted(new: Iterable[CarrierEvent], carrier_code: str) -> Iterator[tuple[str, str, str]]:
    """Count events that are reported for the first time; yield carrier, code and text of those that are unlisted."""
    for event in new:
        metrics.EVENTS.labels(carrier_code, event.status or "none").inc()
        if not event.is_listed:
            metrics.UNLISTED.labels(carrier_code).inc()
            yield carrier_code, event.code, event.text[:MAX_TEXT_LENGTH]


def count_unlisted(carrier_code: str, code: str, text: str, times: int, now: datetime) -> None:
    """Add to a code's row; of two processes that meet it first at once, one makes the row and both are counted."""
    row = UnlistedEventCode(carrier_code=carrier_code, code=code, text=text, first_seen_at=now, last_seen_at=now)
    rows = UnlistedEventCode.objects.filter(carrier_code=carrier_code, code=code)
    added = {"count": F("count") + times, "last_seen_at": now}
    if not rows.update(**added):
        UnlistedEventCode.objects.bulk_create([row], ignore_conflicts=True)
        rows.update(**added)
