"""Parcels beside their promise, the end of the delivery window that was reported: kept, or past, delivered or not."""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Case, F, Func, Q, Value, When
from django.db.models.lookups import LessThan

from carriers.tracking import Status
from parcels.figures.models import Timing
from parcels.tracking.events import milliseconds


class NumberIn(Func):
    """A number in a JSON object that is stored as text; null where there is none."""

    output_field = models.BigIntegerField()
    template = "((%(expressions)s)::jsonb ->> '%(key)s')::bigint"
    on_sqlite = "CAST(json_extract(%(expressions)s, '$.%(key)s') AS INTEGER)"

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, template=self.on_sqlite, **extra_context)


WINDOW_END = NumberIn(F("estimated_delivery_date_window"), key="maximumDeliveryDate")
HAS_TIMING = Q(
    last_status=Status.DELIVERED.value, delivery_date__isnull=False, estimated_delivery_date_window__isnull=False
)
# Not delivered, and not withdrawn with its label; its promise may be over.
IS_PROMISED = ~Q(last_status=Status.DELIVERED.value) & Q(
    is_withdrawn=False, delivery_date__isnull=True, estimated_delivery_date_window__isnull=False
)
# Empty for a parcel that is not delivered, or of which no window is known.
TIMING = Case(
    When(HAS_TIMING & Q(delivery_date__lte=WINDOW_END), then=Value(Timing.ON_TIME.value)),
    When(HAS_TIMING & Q(delivery_date__gt=WINDOW_END), then=Value(Timing.LATE.value)),
    default=Value(""),
    output_field=models.CharField(),
)


def is_overdue(now: datetime) -> Q:
    """Make the condition of the parcels whose promise is over, and which are not delivered."""
    return IS_PROMISED & Q(LessThan(WINDOW_END, milliseconds(now)))


def timing_at(now: datetime) -> Case:
    """Return the timing of a parcel as it is now; the column's own knows the deliveries only."""
    return Case(When(is_overdue(now), then=Value(Timing.OVERDUE.value)), default=TIMING)
