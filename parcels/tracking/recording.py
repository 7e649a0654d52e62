"""Records the carriers' answers: into the rows of the numbers, and from there into the timelines of their parcels."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Case, F, Value, When

from carriers.tracking import TrackingAnswer
from parcels.importing.numbers import save_events, without_texts
from parcels.models import TrackingNumber, UnlistedEventCode
from parcels.tracking import metrics
from parcels.tracking.due import Outcome
from parcels.tracking.events import CarrierEvent, milliseconds, union
from parcels.tracking.schedule import schedule_next_check
from parcels.tracking.timeline import TIMELINE_FIELDS, events_of, recompute, reported_by_shop, status_of
from shops.db import bulk

# A number is given out again after some 13 months: what is so much older than the parcel is another one's.
OLDER_THAN_THE_PARCEL: Final = timedelta(days=30)
MAX_TEXT_LENGTH: Final = 255
EVENT_FIELDS: Final = ("events", "expected", "last_event_at")
ASKED_FIELDS: Final = ("checked_at", "outcome", "due_at", "leased_until", "failures")
NUMBER_FIELDS: Final = (*EVENT_FIELDS, "number", "carrier_code", "state", "created_at", "followed_since", "parcel")
PARCEL_FIELDS: Final = ("imported_at", "are_texts_erased", "reported", *TIMELINE_FIELDS)


@transaction.atomic
def record_all(answers: Mapping[int, TrackingAnswer], *, now: datetime, is_test: bool = False) -> set[int]:
    """Record answers by numbers' ids; plan the next questions, end the leases. Return the ids that were recorded.

    One statement reads all rows, in the order of parcels; most have no new events, and one more writes these. A
    number whose parcel an import or the erasure holds meanwhile is left as it is: it is still due. Test shops' events
    are not counted.
    """
    unlisted: Counter[tuple[str, str, str]] = Counter()
    numbers = locked(answers)
    changed = []
    for number in numbers:
        answer = answers[number.pk]
        number.outcome = Outcome.of(answer)
        number.checked_at, number.leased_until, number.failures = now, None, 0
        new = merge_new_events(number, answer, now)
        if new is not None:
            changed.append(number)
            unlisted.update(() if is_test else counted(new, number.carrier_code))
    bulk.save(changed, EVENT_FIELDS)
    for number in numbers:
        schedule_next_check(number, status_of(number, reported_by_shop(number.parcel)), now)
    bulk.save(numbers, ASKED_FIELDS)
    if changed:
        recompute({number.parcel_id for number in changed}, now)
    for (carrier_code, code, text), times in sorted(unlisted.items()):
        count_unlisted(carrier_code, code, text, times, now)
    return {number.pk for number in numbers}


def locked(ids: Iterable[int]) -> list[TrackingNumber]:
    rows = TrackingNumber.objects.filter(pk__in=list(ids)).order_by("parcel_id", "pk").select_related("parcel")
    narrow = rows.only(*NUMBER_FIELDS, *(f"parcel__{name}" for name in PARCEL_FIELDS))
    return list(narrow.select_for_update(of=("self", "parcel"), skip_locked=True))


def merge_new_events(number: TrackingNumber, answer: TrackingAnswer, now: datetime) -> list[CarrierEvent] | None:
    """Take what is new in an answer; return the new events, None if nothing is new."""
    known, is_erased = events_of([number]), number.parcel.are_texts_erased
    events = union(known, without_texts(reported_events(number, answer), are_texts_erased=is_erased))
    is_expected_anew = merge_expected(number, answer, now)
    if events == known and not is_expected_anew:
        return None
    save_events(number, events, are_texts_erased=is_erased)
    keys = {event.key for event in known}
    return [event for event in events if event.key not in keys]


def reported_events(number: TrackingNumber, answer: TrackingAnswer) -> list[CarrierEvent]:
    oldest = number.created_at - OLDER_THAN_THE_PARCEL // timedelta(milliseconds=1)
    reported = (CarrierEvent.reported(event)._replace(number=number.number) for event in answer.events)
    found = [event for event in reported if event.at >= oldest]
    places: defaultdict[int, dict[str, int]] = defaultdict(dict)  # a repeated event keeps its first one
    return [event._replace(rank=places[event.at].setdefault(event.code, len(places[event.at]))) for event in found]


def merge_expected(number: TrackingNumber, answer: TrackingAnswer, now: datetime) -> bool:
    """Keep the delivery that the carrier expects; return whether it is another one.

    An answer that comes later than a newer one does not replace it.
    """
    start, end = answer.expected_from, answer.expected_until
    first, last = start or end, end or start
    if first is None or last is None:
        return False
    expected = {"from": milliseconds(first), "until": milliseconds(last)}
    before: dict[str, Any] = number.expected or {"askedAt": 0}
    if before["askedAt"] > milliseconds(now):
        return False
    number.expected = expected | {"askedAt": milliseconds(now)}
    return {name: before.get(name) for name in expected} != expected


def counted(new: Iterable[CarrierEvent], carrier_code: str) -> Iterator[tuple[str, str, str]]:
    """Count events that are reported for the first time; yield carrier, code and text of those that are unlisted."""
    for event in new:
        metrics.EVENTS.labels(carrier_code, event.status or "none").inc()
        if not event.is_listed:
            metrics.UNLISTED.labels(carrier_code).inc()
            yield carrier_code, event.code, event.text[:MAX_TEXT_LENGTH]


def count_unlisted(carrier_code: str, code: str, text: str, times: int, now: datetime) -> None:
    """Add to a code's row; if two processes meet a code first, one makes the row and both are counted.

    If the row's text was erased with its customer, this text replaces it.
    """
    row = UnlistedEventCode(carrier_code=carrier_code, code=code, text=text, first_seen_at=now, last_seen_at=now)
    rows = UnlistedEventCode.objects.filter(carrier_code=carrier_code, code=code)
    kept = Case(When(text="", then=Value(text)), default=F("text"))
    added = {"count": F("count") + times, "last_seen_at": now, "text": kept}
    if not rows.update(**added):
        UnlistedEventCode.objects.bulk_create([row], ignore_conflicts=True)
        rows.update(**added)
