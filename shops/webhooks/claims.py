"""Claims due deliveries: endpoint by endpoint, the one that waits longest first, within limits, in order.

Only the first queued row of an endpoint and subject is claimed; those behind it are put off until it is due.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import orjson
from django.db import transaction
from django.db.models import Case, Count, F, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce, Greatest

from carriers.http.connections import Deadline
from shops.db import clock
from shops.db.due import FirstIds, is_due, share_out
from shops.db.prepared import in_index_order
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from shops.webhooks.retries import compressed

DEADLINE_S = 15.0
queued, not_over = WebhookDelivery.objects.queued, WebhookDelivery.objects.not_over
# Later than any attempt can end and be written down.
LEASE = timedelta(seconds=2 * DEADLINE_S)
# Attempts at the same time, counted by leases, so over all processes. An endpoint that is new may be slow.
MAX_FOR_ENDPOINT, MAX_FOR_NEW_ENDPOINT, MAX_FOR_FAILING_ENDPOINT, MAX_FOR_SHOP = 16, 2, 1, 32
MAX_SLOW_FOR_SHOP = MAX_FOR_SHOP // 2  # so that a shop's slow endpoints hold up none of its others
# An endpoint that had nothing to fail at for longer than any pause between attempts begins to fail anew.
FORGOTTEN_AFTER = timedelta(hours=30)
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

    @cached_property
    def body(self) -> bytes:
        """The same bytes at every attempt."""
        return orjson.dumps(self.delivery.event.body)


def most_at_once(*, is_slow: bool | None, failing_since: datetime | None) -> int:
    if failing_since:
        return MAX_FOR_FAILING_ENDPOINT
    return MAX_FOR_NEW_ENDPOINT if is_slow is None else MAX_FOR_ENDPOINT


class Load:
    """Attempts under way in all processes, by endpoint and by shop."""

    def __init__(self) -> None:
        leased: Any = WebhookDelivery.objects.filter(leased_until__gt=clock.Now()).order_by()
        leased = leased.values_list("endpoint", "shop", "endpoint__is_slow", "endpoint__failing_since")
        self.of_endpoint: dict[str, int] = {}
        self.of_shop: Counter[str] = Counter()
        self.slow_of_shop: Counter[str] = Counter()
        self.full_endpoints = []
        for endpoint_id, shop_id, is_slow, failing_since, count in leased.annotate(Count("id")):
            self.of_endpoint[endpoint_id] = count
            self.of_shop[shop_id] += count
            self.slow_of_shop[shop_id] += count if is_slow else 0
            if count >= most_at_once(is_slow=is_slow, failing_since=failing_since):
                self.full_endpoints.append(endpoint_id)

    def room(self, endpoint: WebhookEndpoint) -> int:
        free = most_at_once(is_slow=endpoint.is_slow, failing_since=endpoint.failing_since)
        free -= self.of_endpoint.get(endpoint.id, 0)
        if endpoint.is_slow:
            free = min(free, MAX_SLOW_FOR_SHOP - self.slow_of_shop[endpoint.shop_id])
        return min(free, MAX_FOR_SHOP - self.of_shop[endpoint.shop_id])


def claim(limit: int, slow_limit: int | None = None) -> list[Claim]:
    """Lease up to so many due deliveries to this process, of them up to `slow_limit` to slow endpoints."""
    slow_limit = limit if slow_limit is None else min(slow_limit, limit)
    if limit <= 0 or not (waiting := waiting_endpoints(limit, has_slow=slow_limit > 0)):
        return []
    with transaction.atomic(), in_index_order():
        now = clock.now()
        endpoints = lock(waiting, now, LOOKED_AT * math.ceil(limit / len(waiting)))
        claims = shared_out(endpoints, first_rows(endpoints, now), limit, slow_limit, now)
        ids = [each.delivery.id for each in claims]
        not_over().filter(id__in=ids).update(leased_until=now + LEASE)
        is_forgotten = When(served_at__lt=now - compressed(FORGOTTEN_AFTER), then=None)
        WebhookEndpoint.objects.filter(id__in=[each.id for each in endpoints]).update(
            served_at=now, failing_since=Case(is_forgotten, default=F("failing_since"))
        )
    return claims


def waiting_endpoints(limit: int, *, has_slow: bool) -> list[str]:
    """Find the endpoints that have something due, and room for it; the one that waits longest first."""
    due = Subquery(due_of_endpoint(clock.Now()).values("due_at")[:1])
    load = Load()
    full_shops = [shop_id for shop_id, count in load.of_shop.items() if count >= MAX_FOR_SHOP]
    waiting = WebhookEndpoint.objects.active().alias(due=due).exclude(due=None)
    slow_shops = [shop_id for shop_id, count in load.slow_of_shop.items() if count >= MAX_SLOW_FOR_SHOP]
    waiting = waiting.exclude(id__in=load.full_endpoints).exclude(shop__in=full_shops)
    waiting = waiting.exclude(is_slow=True, shop__in=slow_shops)
    if not has_slow:
        waiting = waiting.exclude(is_slow=True)
    first = waiting.order_by(F("served_at").asc(nulls_first=True), "id").values_list("id", flat=True)[:limit]
    with in_index_order():
        return list(first)


def due_of_endpoint(now: datetime | clock.Now) -> QuerySet[WebhookDelivery]:
    """Return a query for what is due of the endpoint of an outer one, in turn."""
    return queued().filter(is_due(now), endpoint=OuterRef("pk")).order_by("due_at", "id")


def lock(ids: Sequence[str], now: datetime, looked_at: int) -> list[WebhookEndpoint]:
    """Lock endpoints, which other processes skip, so that their limits hold; note what is due.

    Their shops stay unlocked: a shop that buys or imports would have no webhooks meanwhile. So processes that claim at
    the same moment may exceed a shop's share for once.
    """
    endpoints = WebhookEndpoint.objects.active().filter(id__in=ids)
    endpoints = endpoints.annotate(due=FirstIds(due_of_endpoint(now), looked_at))
    locked = endpoints.select_for_update(of=("self",), skip_locked=True, no_key=True)
    return sorted(locked, key=lambda endpoint: ids.index(endpoint.id))


def first_rows(endpoints: Iterable[Any], now: datetime) -> dict[str, list[WebhookDelivery]]:
    """Return the endpoints' due rows that are the first of their subject; defer the others that are met."""
    first = queued().filter(endpoint=OuterRef("endpoint"), subject=OuterRef("subject")).order_by("id")
    due = not_over().filter(is_due(now), id__in=[row for each in endpoints for row in each.due or ()])
    due = due.annotate(first=Subquery(first.values("id")[:1])).order_by("due_at", "id")
    found: dict[str, list[WebhookDelivery]] = defaultdict(list)
    behind = []
    for row in due.select_related("event").select_for_update(of=("self",), skip_locked=True):
        if row.id == row.first:
            found[row.endpoint_id].append(row)
        else:
            behind.append(row.id)
    if behind:
        # `delivering` makes the next row of a subject due when the first is over, after this transaction at the
        # latest, because it has to wait for the row.
        its_turn = Greatest("due_at", Coalesce("leased_until", "due_at"))
        put_off = Subquery(first.values(at=its_turn)[:1])
        not_over().filter(id__in=behind).update(due_at=Coalesce(put_off, Value(now)))
    return found


def shared_out(
    endpoints: Sequence[WebhookEndpoint],
    rows: dict[str, list[WebhookDelivery]],
    limit: int,
    slow_limit: int,
    now: datetime,
) -> list[Claim]:
    """Give each endpoint an equal share of the limit; what one does not use goes to the next."""
    load = Load()
    claims: list[Claim] = []
    slow_left = slow_limit

    def first(endpoint: WebhookEndpoint, share: int) -> list[WebhookDelivery]:
        room = min(load.room(endpoint), slow_left if endpoint.is_slow else limit)
        return rows.get(endpoint.id, [])[: max(0, min(share, room))]

    for endpoint, own in share_out(endpoints, limit, first):
        slow = len(own) if endpoint.is_slow else 0
        slow_left -= slow
        load.slow_of_shop[endpoint.shop_id] += slow
        load.of_shop[endpoint.shop_id] += len(own)
        claims += [Claim(row, endpoint, now, Deadline(DEADLINE_S)) for row in own]
    return claims
