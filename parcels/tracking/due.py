"""Takes parcels whose carrier is to be asked now, each with a lease, and gives them back."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from random import random
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from parcels.models import Parcel, ParcelTracking
from parcels.tracking.schedule import next_try
from shops.db import clock
from shops.models import Shop

# An order has at most as many parcels; of an import with more numbers the first are asked.
MAX_NUMBERS: Final = 99
# Short, so that little is asked again after a kill and a status is not shown late.
BATCH_S: Final = 4.0
MAX_BATCH: Final = 50
# Parcels of a shop that can't be asked are put off at most this many at a time.
MAX_PUT_OFF: Final = 5000
PUT_OFF: Final = timedelta(hours=1)


class Outcome(StrEnum):
    """The outcome of asking about a parcel, as rows, metrics and log lines name it."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    UNAVAILABLE = "unavailable"
    CREDENTIALS_REJECTED = "credentials_rejected"
    NO_CONTRACT = "no_contract"


@dataclass(frozen=True)
class DueParcel:
    """A parcel that this process may ask about until its lease ends."""

    id: str
    shop_id: str
    numbers: tuple[str, ...]
    failures: int


def take(carrier_code: str, count: int) -> list[DueParcel]:
    """Lease of each shop in turn the parcels that have been due longest, without those that others hold.

    An import or an erasure that holds a parcel would let the answer be lost.
    """
    with transaction.atomic():
        now = clock.now()
        failures: dict[str, int] = {}
        shops = shops_with_due(carrier_code, now, count)
        for rank, shop_id in enumerate(shops):
            share = ceil((count - len(failures)) / (len(shops) - rank))
            rows = due(carrier_code, now).filter(shop=shop_id).order_by("next_check_at").select_related("parcel")
            free = rows.only("failures", "parcel__id").select_for_update(of=("self", "parcel"), skip_locked=True)
            failures |= {row.pk: row.failures for row in free[:share]}
        parcels = [due_parcel(row, failures) for row in numbers_of(failures)]
        calls = max((len(parcel.numbers) for parcel in parcels), default=0)
        ParcelTracking.objects.filter(pk__in=failures).update(leased_until=now + lease(carrier_code, calls))
    return parcels


def shops_with_due(carrier_code: str, now: datetime, count: int) -> list[str]:
    """Return so many shops that have something due, chosen by chance so that none waits for another's backlog."""
    is_due = Exists(due(carrier_code, now).filter(shop=OuterRef("pk")))
    return list(Shop.objects.filter(is_due).order_by("?").values_list("pk", flat=True)[:count])


def due(carrier_code: str, now: datetime) -> QuerySet[ParcelTracking]:
    free = Q(leased_until=None) | Q(leased_until__lte=now)
    return ParcelTracking.objects.filter(free, carrier_code=carrier_code, next_check_at__lte=now)


def numbers_of(ids: Iterable[str]) -> Iterable[tuple[str, str, str, list[str]]]:
    found: Iterable[tuple[str, str, str, list[str]]]
    found = (
        Parcel.objects.filter(id__in=ids).order_by("id").values_list("id", "shop", "tracking_id", "tracking_numbers")
    )
    return found


def due_parcel(row: tuple[str, str, str, list[str]], failures: dict[str, int]) -> DueParcel:
    parcel_id, shop_id, tracking_id, others = row
    numbers = [number for number in dict.fromkeys([tracking_id, *others]) if number]
    return DueParcel(parcel_id, shop_id, tuple(numbers[:MAX_NUMBERS]), failures[parcel_id])


def batch_size(carrier_code: str) -> int:
    """The number of parcels that a thread may expect to ask about in `BATCH_S`."""
    a_thread = settings.TRACKING_RATES[carrier_code] / settings.TRACKING_CONCURRENCY
    return max(1, min(MAX_BATCH, round(BATCH_S * a_thread)))


def lease(carrier_code: str, calls: int) -> timedelta:
    """Return a lease that outlasts a batch whose largest parcel needs so many calls, each as slow as can be."""
    slot_s = settings.TRACKING_CONCURRENCY / settings.TRACKING_RATES[carrier_code]
    calls_s = calls * (settings.CARRIER_TIMEOUT + slot_s)
    return timedelta(seconds=BATCH_S + calls_s + settings.LEASE_MARGIN_S)


def release(ids: Iterable[str]) -> None:
    """Give back what was not asked about: it is still due."""
    ParcelTracking.objects.filter(pk__in=list(ids)).update(leased_until=None)


def try_later(parcel: DueParcel, outcome: Outcome) -> None:
    """Put a parcel off after a failure, which changes nothing else."""
    failures = parcel.failures + 1
    ParcelTracking.objects.filter(pk=parcel.id).update(
        outcome=outcome,
        failures=min(failures, 1000),
        leased_until=None,
        next_check_at=next_try(failures=failures, now=clock.now(), random=random),
    )


def put_off(carrier_code: str, shop_id: str, outcome: Outcome) -> None:
    """Put off all due parcels of a shop that can't be asked about: its contract is missing or refused."""
    now = clock.now()
    with transaction.atomic():
        rows = ParcelTracking.objects.filter(shop=shop_id, carrier_code=carrier_code, next_check_at__lte=now)
        oldest = rows.order_by("next_check_at").select_for_update(skip_locked=True)
        ids = list(oldest.values_list("pk", flat=True)[:MAX_PUT_OFF])
        ParcelTracking.objects.filter(pk__in=ids).update(
            outcome=outcome, leased_until=None, next_check_at=now + PUT_OFF / settings.TRACKING_PACE
        )


def oldest_due_s(carrier_code: str) -> float:
    """Return the age of the oldest check that is due, in seconds; 0 if none is."""
    now = clock.now()
    rows = ParcelTracking.objects.filter(carrier_code=carrier_code, next_check_at__lte=now)
    oldest = rows.order_by("next_check_at").values_list("next_check_at", flat=True).first()
    return (now - oldest).total_seconds() if oldest else 0.0
