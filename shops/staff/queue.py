"""The rows of the first page's queue: what is to do, counted as the list behind each row is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, F, Min, QuerySet

from shops.db import clock
from shops.staff.base import LISTED_AT_MOST
from shops.staff.display_texts import number
from shops.staff.panels import Figure, lasting
from shops.staff.taking import QueueRow


@dataclass(frozen=True)
class Row:
    """One kind of work: how much of it there is, since when, and the list with all of it.

    Above `LISTED_AT_MOST` both are of some of it, as the list's own count is.
    """

    name: str
    title: str
    link: str
    count: int
    since: datetime | None = None
    note: str = ""
    further: Sequence[Figure] = ()
    taken: QueueRow | None = None

    @property
    def text(self) -> str:
        return capped(self.count)

    @property
    def age(self) -> str:
        return lasting(clock.now() - self.since) if self.since else ""


def capped(count: int) -> str:
    return f"{number(min(count, LISTED_AT_MOST))}{'+' if count > LISTED_AT_MOST else ''}"


def counted(rows: QuerySet[Any], since: Any) -> dict[str, Any]:
    """Count rows up to the cap of their list, and find the earliest time in a column: a date, or milliseconds."""
    some = rows.order_by().values(since_at=F(since) if isinstance(since, str) else since)[: LISTED_AT_MOST + 1]
    found = some.aggregate(count=Count("*"), since=Min("since_at"))
    at = found["since"]
    return found | {"since": datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int) else at}


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, the oldest work first and those without any last, each with who took it."""
    taken = QueueRow.objects.in_bulk([row.name for row in rows])
    latest = datetime.max.replace(tzinfo=UTC)
    named = (replace(row, taken=taken.get(row.name)) for row in rows)
    return sorted(named, key=lambda row: (not row.count, row.since or latest))
