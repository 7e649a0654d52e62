"""Claims numbers whose carrier is to be asked now, each with a lease, and releases them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Exists, OuterRef, QuerySet, Value, When

from carriers.tracking import TrackingAnswer
from parcels.importing.numbers import GIVEN_OUT_AGAIN
from parcels.models import TrackingNumber
from parcels.tracking.events import milliseconds
from parcels.tracking.schedule import FOLLOWED_FOR, next_try
from shops.contracts.clients import tracker
from shops.db import clock
from shops.db.due import is_due, share_out
from shops.models import Shop

# Short, so that little is asked again after a kill and a status is not shown late.
BATCH_S: Final = 4.0
MAX_BATCH: Final = 50
# A number is asked about on the contract's own account, and where it is unknown on others of the shop.
MAX_ACCOUNTS: Final = 5
# Numbers of a shop that can't be asked about are deferred at most this many at a time.
MAX_DEFERRED: Final = 5000
DEFERRED_FOR: Final = timedelta(hours=1)


class Outcome(StrEnum):
    """The outcome of asking about a number, as rows, metrics and log lines name it."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    UNAVAILABLE = "unavailable"
    CREDENTIALS_REJECTED = "credentials_rejected"
    NO_CONTRACT = "no_contract"

    @classmethod
    def of(cls, answer: TrackingAnswer) -> Self:
        return cls.KNOWN if answer.is_known else cls.UNKNOWN


def claim(carrier_code: str, count: int, *, is_test: bool, without: str = "") -> list[TrackingNumber]:
    """Lease the numbers that have been due longest, of each live or test shop in turn; skip those that others hold.

    Their rows have what asking needs. Numbers whose parcel an import or an erasure holds are skipped: their answers
    would be lost. `without` is a shop to leave out.
    """
    with transaction.atomic():
        now = clock.now()

        def first(shop_id: str, share: int) -> list[TrackingNumber]:
            rows = due(carrier_code, now).filter(shop=shop_id).order_by("due_at").select_related("parcel")
            narrow = rows.only("number", "shop", "created_at", "failures", "parcel__id")
            return list(narrow.select_for_update(of=("self", "parcel"), skip_locked=True)[:share])

        has_due = Exists(due(carrier_code, now).filter(shop=OuterRef("pk")))
        # By chance: none waits for another's backlog.
        shops = Shop.objects.filter(has_due, is_test=is_test).exclude(pk=without).order_by("?")
        own = list(shops.values_list("pk", flat=True)[:count])
        taken = [row for _, rows in share_out(own, count, first) for row in rows]
        numbers_of([row.pk for row in taken]).update(leased_until=now + lease(carrier_code))
    return taken


def due(carrier_code: str, now: datetime) -> QuerySet[TrackingNumber]:
    return TrackingNumber.objects.filter(is_due(now), carrier_code=carrier_code)


def numbers_of(ids: Iterable[int]) -> QuerySet[TrackingNumber]:
    return TrackingNumber.objects.filter(pk__in=list(ids))


def batch_size(carrier_code: str) -> int:
    """The number of numbers that a thread may expect to ask about in `BATCH_S`."""
    a_thread = settings.TRACKING_RATES[carrier_code] / settings.TRACKING_CONCURRENCY
    return max(1, min(MAX_BATCH, round(BATCH_S * a_thread)))


def lease(carrier_code: str) -> timedelta:
    """Return a lease that outlasts a batch and its last number, on all accounts, each call as slow as can be."""
    slot_s = settings.TRACKING_CONCURRENCY / settings.TRACKING_RATES[carrier_code]
    calls_s = MAX_ACCOUNTS * (settings.CARRIER_TIMEOUT + slot_s)
    return timedelta(seconds=BATCH_S + calls_s + settings.LEASE_MARGIN_S)


def update_free(rows: QuerySet[TrackingNumber], **values: Any) -> None:
    """Update rows and end their leases; one that an import holds, maybe for long, keeps its lease."""
    with transaction.atomic():
        free = rows.select_for_update(skip_locked=True).values_list("pk", flat=True)
        numbers_of(free).update(leased_until=None, **values)


def release(ids: Iterable[int]) -> None:
    """Give back what was not asked about, or could not be recorded: it is still due."""
    update_free(numbers_of(ids))


def back_off(number: TrackingNumber, outcome: Outcome) -> None:
    """Ask about a number again later, after a failure, which changes nothing else."""
    failures = number.failures + 1
    due_at = next_try(failures, clock.now())
    update_free(numbers_of([number.id]), outcome=outcome, failures=min(failures, 1000), due_at=due_at)


def defer_shop(carrier_code: str, shop_id: str, outcome: Outcome) -> None:
    """Defer all due numbers of a shop that can't be asked about: its contract is missing or refused.

    Those that are too old to be followed are due no more.
    """
    now = clock.now()
    rows = TrackingNumber.objects.filter(shop=shop_id, carrier_code=carrier_code, due_at__lte=now)
    oldest = rows.order_by("due_at")[:MAX_DEFERRED]
    is_old = When(created_at__lte=milliseconds(now - FOLLOWED_FOR), then=None)
    again_at = Case(is_old, default=Value(now + DEFERRED_FOR / settings.TRACKING_PACE))
    update_free(oldest, outcome=outcome, due_at=again_at)


def end_old(numbers: list[TrackingNumber]) -> list[TrackingNumber]:
    """End the numbers that may have been given out again, if they were not asked about in time; return the others."""
    since = milliseconds(clock.now() - GIVEN_OUT_AGAIN)
    old = [number.id for number in numbers if number.created_at <= since]
    if old:
        update_free(numbers_of(old), due_at=None)
    return [number for number in numbers if number.created_at > since]


def is_asked(carrier_code: str) -> bool:
    """Return whether the carrier is asked: without a URL of its tracking service what is due waits, and is not late."""
    return tracker(carrier_code, is_test=False) is not None


def oldest_due_s(carrier_code: str) -> float:
    """Return the age of the oldest question that is due, in seconds, test shops' left out; 0 if none is."""
    if not is_asked(carrier_code):
        return 0.0
    now = clock.now()
    rows = TrackingNumber.objects.live().filter(carrier_code=carrier_code, due_at__lte=now)
    oldest = rows.order_by("due_at").values_list("due_at", flat=True).first()
    return (now - oldest).total_seconds() if oldest else 0.0
