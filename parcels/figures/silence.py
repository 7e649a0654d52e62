"""Parcels without news: nothing has happened to them since a moment, by their carrier or by their shop's imports."""

from datetime import datetime
from typing import Final

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce
from django.db.models.lookups import LessThan

from parcels.figures.timing import NumberIn
from parcels.tracking.events import milliseconds


class FirstEvent(NumberIn):
    """The time of the newest event in a column of events; null where there is none."""

    # Of the text, in which nothing of the shop's comes before it: jsonb refuses the NUL that a notification may hold.
    template = "substring(%(expressions)s FROM '\"createdAt\":(-?[0-9]+)')::bigint"
    on_sqlite = "CAST(json_extract(%(expressions)s, '$[0].createdAt') AS INTEGER)"


# As the index has it: one column has no statistics of the followed numbers alone.
NEWEST_OF_CARRIER: Final = Coalesce("last_event_at", Value(0, models.BigIntegerField()))


def is_silent(since: datetime) -> Q:
    """Return the condition of numbers whose parcel was created before, and of which no source has reported since."""
    return by_carrier(since) & is_parcel_silent(since, "parcel__")


def by_carrier(since: datetime) -> Q:
    """Return the condition of numbers of which the carrier has reported nothing since, along their index."""
    return Q(LessThan(NEWEST_OF_CARRIER, number(milliseconds(since))))


def is_parcel_silent(since: datetime, path: str = "") -> Q:
    """Return the condition of parcels that were created before, and of which nothing has been reported since.

    The events, of all sources, are read last and of few parcels: as one expression they are a filter beside the index
    of the carriers' newest events.
    """
    moment = milliseconds(since)
    is_newer = Q(**{f"{path}last_status_updated_at__gte": moment})
    first_event = Coalesce(FirstEvent(F(f"{path}events")), number(0))
    newest = Case(When(is_newer, then=number(moment)), default=first_event)
    return Q(**{f"{path}created_at__lt": moment}) & Q(LessThan(newest, number(moment)))


def number(value: int) -> Value:
    return Value(value, models.BigIntegerField())
