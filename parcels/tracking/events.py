"""The carriers' events, as the rows of numbers keep them: a union that grows the same in whatever order they come."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self

from carriers.tracking import Status, TrackingEvent

# Far above any journey, so that an answer without end can't fill a row; the newest are kept.
MAX_EVENTS: Final = 500
EPOCH, MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)
LAST_DAY_MS: Final = 253_402_214_400_000  # 9999-12-31

# From none and the least advanced to the most: of several numbers the first counts, of events at one time the last.
ADVANCE: Final[dict[Status | None, int]] = {None: -1} | {
    Status(name): rank
    for rank, name in enumerate(
        "FULFILLED IN_TRANSIT EXCEPTION DELIVERY_FAILURE OUT_FOR_DELIVERY WAITING_FOR_PICKUP RETURN_TO_SENDER"
        " RETURNED_TO_SENDER DELIVERED".split()
    )
}


class CarrierEvent(NamedTuple):
    """One event of one number; `at` in Unix milliseconds. A tuple, since every answer brings the whole history."""

    number: str
    code: str
    at: int
    text: str
    place: str
    status: Status | None
    is_listed: bool
    kept_until: int | None = None  # the end of its deposit at a pickup point
    rank: int = 0  # among its number's events of one time, as the carrier gave them

    @classmethod
    def reported(cls, event: TrackingEvent) -> Self:
        at = milliseconds(event.happened_at)
        end = milliseconds(event.kept_until) if event.kept_until else None
        known = (event.tracking_number, event.code, at, event.text, event.place, event.status, event.is_listed)
        return cls(*known, end)

    @classmethod
    def stored(cls, number: str, row: dict[str, Any]) -> Self:
        return cls(number, **row | {"status": row["status"] and Status(row["status"])})

    def as_stored(self) -> dict[str, Any]:
        """Return the event as the row of its number keeps it."""
        row = self._asdict()
        del row["number"]
        if not self.rank:
            del row["rank"]
        return row

    @property
    def key(self) -> tuple[int, str, str]:
        """Time, code and number: events in which these are equal are one."""
        return self.at, self.code, self.number

    @property
    def order(self) -> tuple[int, int, int, str, str]:
        """The place among the events of a parcel: at one time as the carrier gave them, then by how far they go."""
        return self.at, self.rank, ADVANCE[self.status], self.code, self.number

    @property
    def weight(self) -> tuple[bool, bool, int, int, str, str]:
        """Decide which of two reports of one event stays.

        A listed code's event that once changed nothing stays so: a tracker takes a status away when it knows more. An
        unlisted code has its status only while no later one changes anything, and keeps it.
        """
        is_as_listed = (self.status is None) == self.is_listed
        return self.is_listed, is_as_listed, ADVANCE[self.status], self.kept_until or 0, self.text, self.place


def union(*groups: Iterable[CarrierEvent]) -> list[CarrierEvent]:
    """Return each event once, in the order of time, code and number."""
    found: dict[tuple[int, str, str], CarrierEvent] = {}
    for group in groups:
        for event in group:
            known = found.get(event.key, event)
            kept = max(known, event, key=attrgetter("weight"))
            found[event.key] = kept._replace(rank=max(known.rank, event.rank))
    return [found[key] for key in sorted(found)[-MAX_EVENTS:]]


def milliseconds(moment: datetime) -> int:
    """Return the Unix time, without what follows its milliseconds: rounded up it might be the next day's."""
    return (moment - EPOCH) // MILLISECOND


def moment(time_ms: int) -> datetime:
    """Convert Unix milliseconds to a time in UTC, and to no later one than every time zone has."""
    return datetime.fromtimestamp(min(time_ms, LAST_DAY_MS) / 1000, UTC)
