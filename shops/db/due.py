"""Queues of rows that fall due: `due_at` says when, and `leased_until` that a process is at work on one.

A claim leases the queue's own rows, passing over those that another process has locked, and nobody else's. It is fair
between groups, such as shops or endpoints: each gets an equal share, and what one has no use for is the next one's.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from math import ceil
from typing import Any, TypeVar

from django.db.models import JSONField, Q, QuerySet, Subquery

from shops.db.clock import Now

Group = TypeVar("Group")
Row = TypeVar("Row")


def is_due(now: datetime | Now) -> Q:
    """Return the condition of rows that are due and that no process has; `now` is the database's."""
    return Q(due_at__lte=now) & (Q(leased_until=None) | Q(leased_until__lte=now))


class FirstIds(Subquery):
    """The ids of the first rows of a query as one value, so that one query finds those of many groups."""

    output_field = JSONField()
    template = "(SELECT json_group_array(pk) FROM (%(subquery)s))"

    def __init__(self, rows: QuerySet[Any], count: int) -> None:
        super().__init__(rows.values("pk")[:count])

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, "(SELECT jsonb_agg(pk) FROM (%(subquery)s) AS found)", **extra)


def share_out(
    groups: Sequence[Group], limit: int, first: Callable[[Group, int], Sequence[Row]]
) -> Iterator[tuple[Group, Sequence[Row]]]:
    """Yield each group's share of so many rows; `first` gives up to so many of a group when its turn comes."""
    for index, group in enumerate(groups):
        own = first(group, ceil(limit / (len(groups) - index)))
        limit -= len(own)
        yield group, own
