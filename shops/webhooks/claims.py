"""Claims due deliveries: endpoint by endpoint, the one that waits longest first, within limits, in order.

A row's lease is also its next attempt: when it runs out, the row is due again. Only the first queued row of an
endpoint and subject is claimed; those behind it are put off until it is due.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from carriers.http.connections import Deadline
from shops.db import clock
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint

DEADLINE_S = 15.0
queued = WebhookDelivery.objects.queued
# Later than any attempt can end and be written down.
LEASE = timedelta(seconds=2 * DEADLINE_S)
# Attempts at the same time, counted by leases, so over all processes.
MAX_FOR_ENDPOINT, MAX_FOR_FAILING_ENDPOINT, MAX_FOR_SHOP = 8, 1, 16
# More rows are looked at than claimed, as some wait for others of their subject.
LOOKED_AT = 4


@dataclass(frozen=True)
class Claim:
    """A delivery that this process makes now; it has to be begun at once, as its deadline runs."""

    delivery: WebhookDelivery
    endpoint: WebhookEndpoint
    claimed_at: datetime
    deadline: Deadline

    @property
    def leased_until(self) -> datetime:
        return self.claimed_at + LEASE

    @property
    def body(self) -> bytes:
        """The same bytes at every attempt."""
        created_at = self.delivery.created_at.astimezone(UTC).isoformat(timespec="milliseconds")
        return orjson.dumps(
            {
                "type": self.delivery.type,
                "timestamp": created_at.replace("+00:00", "Z"),
                "data": self.delivery.data,
            }
        )


class Load:
    """Attempts under way in all processes, by endpoint and by shop."""

    def __init__(self, now: datetime) -> None:
        leased = queued().filter(leased_until__gt=now).order_by().values_list("endpoint", "shop")
        self.of_endpoint: Counter[str] = Counter()
        self.of_shop: Counter[str] = Counter()
        for endpoint_id, shop_id, count in leased.annotate(Count("id")):
            self.of_endpoint[endpoint_id] += count
            self.of_shop[shop_id] += count

    def room(self, endpoint: WebhookEndpoint) -> int:
        most = MAX_FOR_FAILING_ENDPOINT if endpoint.failing_since else MAX_FOR_ENDPOINT
        free = min(most - self.of_endpoint[endpoint.id], MAX_FOR_SHOP - self.of_shop[endpoint.shop_id])
        return max(free, 0)

    @property
    def is_full(self) -> Q:
        """The condition of endpoints without room."""
        full = [each for each, count in self.of_endpoint.items() if count >= MAX_FOR_ENDPOINT]
        full_if_failing = [each for each, count in self.of_endpoint.items() if count >= MAX_FOR_FAILING_ENDPOINT]
        full_shops = [each for each, count in self.of_shop.items() if count >= MAX_FOR_SHOP]
        is_failing = Q(id__in=full_if_failing, failing_since__isnull=False)
        return Q(id__in=full) | is_failing | Q(shop__in=full_shops)


def claim(limit: int) -> list[Claim]:
    """Lease up to so many due deliveries to this process."""
    if limit <= 0 or not waiting_endpoints(clock.now()).exists():
        return []
    with transaction.atomic():
        now = clock.now()
        waiting = waiting_endpoints(now).order_by(F("served_at").asc(nulls_first=True), "id")
        # Their shops are locked too: another process passes over them, so that the limits hold.
        waiting = waiting.select_related("shop")
        endpoints = list(waiting.select_for_update(of=("self", "shop"), skip_locked=True, no_key=True)[:limit])
        claims = share_out(endpoints, limit, now)
        ids = [each.delivery.id for each in claims]
        queued().filter(id__in=ids).update(leased_until=now + LEASE, next_attempt_at=now + LEASE)
        WebhookEndpoint.objects.filter(id__in=[each.id for each in endpoints]).update(served_at=now)
    return claims


def waiting_endpoints(now: datetime) -> QuerySet[Any]:
    """Find the endpoints that have something due, and room for it."""
    due = queued().filter(endpoint=OuterRef("pk"), next_attempt_at__lte=now)
    return WebhookEndpoint.objects.active().filter(Exists(due)).exclude(Load(now).is_full)


def share_out(endpoints: Sequence[WebhookEndpoint], limit: int, now: datetime) -> list[Claim]:
    """Give each endpoint an equal share of the limit; what one has no use for is the next one's."""
    load = Load(now)
    claims: list[Claim] = []
    for index, endpoint in enumerate(endpoints):
        share = math.ceil((limit - len(claims)) / (len(endpoints) - index))
        rows = first_rows(endpoint, now, min(share, load.room(endpoint)))
        load.of_shop[endpoint.shop_id] += len(rows)
        claims += [Claim(row, endpoint, now, Deadline(DEADLINE_S)) for row in rows]
    return claims


def first_rows(endpoint: WebhookEndpoint, now: datetime, limit: int) -> list[WebhookDelivery]:
    """Return the endpoint's due rows that are the first of their subject; put off the others that are met."""
    if limit <= 0:
        return []
    first = queued().filter(endpoint=endpoint, subject=OuterRef("subject")).order_by("id")
    due = queued().filter(endpoint=endpoint, next_attempt_at__lte=now).annotate(first=Subquery(first.values("id")[:1]))
    rows = list(due.order_by("next_attempt_at", "id").select_for_update(skip_locked=True)[: LOOKED_AT * limit])
    behind = [row.id for row in rows if row.id != row.first]
    if behind:
        # `outcomes` makes the next row of a subject due when the first is over, after this transaction at the
        # latest, because it has to wait for the row.
        put_off = Subquery(first.values("next_attempt_at")[:1])
        queued().filter(id__in=behind).update(next_attempt_at=Coalesce(put_off, Value(now)))
    return [row for row in rows if row.id == row.first][:limit]
