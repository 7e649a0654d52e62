"""Generated histories of parcels: what their carriers reported and their shops imported, in any order and batches."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import reduce
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from carriers.tracking import Status, TrackingEvent
from parcels.tracking.events import CarrierEvent, union
from parcels.tracking.timeline import Timeline, derive

PARIS = ZoneInfo("Europe/Paris")
# The nights in which clocks are put back and forward, and a day like others.
STARTS = [datetime(2026, 10, 25, 0, 30), datetime(2027, 3, 28, 0, 30), datetime(2026, 11, 20, 8, 0)]  # noqa: DTZ001 - local times
CODES = ["DC", "SC", "TA", "D", "R", "SM", "NEW"]
NUMBERS = ["N1", "N2"]
STATUSES = [None, None, *Status]


def moment(random: Random) -> datetime:
    """Choose one of a few times, so that events are doubled, and at one time."""
    local = random.choice(STARTS) + random.randint(0, 9) * timedelta(minutes=30)
    return local.replace(tzinfo=PARIS, fold=random.randint(0, 1))


def carrier_event(random: Random) -> TrackingEvent:
    """Make an event whose code may have had another meaning before."""
    return TrackingEvent(
        tracking_number=random.choice(NUMBERS),
        code=random.choice(CODES),
        happened_at=moment(random),
        text=random.choice(["", "En cours", "Handed over"]),
        place=random.choice(["", "PARIS"]),
        status=random.choice(STATUSES),
        is_listed=random.random() < 0.7,
        kept_until=random.choice([None, moment(random) + timedelta(days=10)]),
    )


def ms(moment: datetime) -> int:
    return round(moment.astimezone(UTC).timestamp() * 1000)


def shop_event(random: Random) -> dict[str, Any]:
    at = ms(moment(random))
    told = {"label": "told by the shop", "isNotificationSkipped": False, "notifications": [{"at": at}]}
    code = random.choice([None, *CODES])
    return {"status": str(random.choice(list(Status))), "createdAt": at, "carrierStatusCode": code} | told


def shop_timeline(random: Random) -> Timeline:
    status, at = random.choice(STATUSES), random.choice([None, ms(moment(random))])
    return Timeline(
        last_status=status and str(status),
        last_status_updated_at=at,
        delivery_date=at if status == Status.DELIVERED else None,
        end_deposit_date=random.choice([None, ms(moment(random))]),
        events=sorted((shop_event(random) for _ in range(random.randint(0, 3))), key=lambda event: -event["createdAt"]),
    )


@dataclass(frozen=True)
class Report:
    """The timeline as one import gave it."""

    timeline: Timeline
    imported_at: int

    @property
    def order(self) -> tuple[int, int]:
        return self.timeline.as_of, self.imported_at


@dataclass(frozen=True)
class News:
    """An answer of the carrier, or an import."""

    events: tuple[TrackingEvent, ...] = ()
    report: Report | None = None


def history(random: Random) -> list[News]:
    """Make the news of a parcel; each import has its own time, which is not the order they come in."""
    times = random.sample(range(3), random.randint(0, 3))
    reports = [News(report=Report(shop_timeline(random), time)) for time in times]
    sizes = [random.randint(0, 4) for _ in range(random.randint(0, 4))]
    return [*reports, *(News(events=tuple(carrier_event(random) for _ in range(size))) for size in sizes)]


histories = st.integers(0, 2**64).map(lambda seed: history(Random(seed)))


@dataclass
class Row:
    """A parcel's row, which takes news as the recording and the import do."""

    events: list[CarrierEvent] = field(default_factory=list)
    report: Report | None = None

    def take(self, news: News) -> "Row":
        self.events = union(self.events, map(CarrierEvent.reported, news.events))
        if news.report and (self.report is None or news.report.order >= self.report.order):
            self.report = news.report
        return self

    @property
    def timeline(self) -> Timeline:
        return derive(reported=self.report.timeline if self.report else None, events=self.events)


def told(news: list[News]) -> Timeline:
    return reduce(Row.take, news, Row()).timeline


def in_other_batches(news: list[News], size: int) -> list[News]:
    """Cut the carrier's answers anew; each of them tells some of the last one's events again."""
    all_events = [event for each in news for event in each.events]
    cut = [News(events=tuple(all_events[max(0, n - 1) : n + size])) for n in range(0, len(all_events), size)]
    return [*cut, *(each for each in news if each.report)]
