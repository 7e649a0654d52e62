"""Delivers what is due, many at a time; for the background process, of which any number may run.

The outcome of each attempt is recorded: delivered, to be tried again, or a dead letter. It may disable its endpoint.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from time import sleep
from typing import Any

from django.db import connection, transaction
from django.db.models import OuterRef, Subquery

from shops.db import bulk, clock
from shops.db.prepared import in_index_order
from shops.db.replicas import UNREACHABLE
from shops.webhooks import endpoints
from shops.webhooks.claims import Claim, claim
from shops.webhooks.metrics import ATTEMPTS, DELIVERED
from shops.webhooks.models import ONE_ATTEMPT_LESS, DeliveryState, WebhookDelivery, WebhookEndpoint
from shops.webhooks.retries import compressed, pause_after
from shops.webhooks.sending import GONE, Outcome, send

queued, not_over = WebhookDelivery.objects.queued, WebhookDelivery.objects.not_over
# Deliveries in progress, each a thread that waits: the 32 of one shop leave as many for all others. For more there is
# another `work`.
CONCURRENCY = 64
# New deliveries are looked for as often, also while attempts are under way.
POLL_S = 0.5
# When an attempt has ended, those that end soon after are written down with it.
GATHER_S = 0.05
# An endpoint that takes longer shares a part of the places with all that do, so that it slows nobody else's.
SLOW_S = 1.0
# An endpoint that works again gets what waits; an event that it alone refuses is not tried at each success of others.
# What fails for a reason of ours is tried again after as long.
RECOVERY_SPACING = timedelta(minutes=1)
ATTEMPT_FIELDS = (
    *("state", "attempts", "due_at", "leased_until"),
    *("last_attempt_at", "last_status", "last_reason", "last_duration_ms"),
)
logger = logging.getLogger("webhooks.delivery")


def deliver_due(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Deliver until nothing is due and nothing is under way, or nothing more is to be begun; return the attempts.

    Threads that know no database make the calls; this thread claims rows and records outcomes, in short transactions.
    Slow endpoints have half of the places, a single one of them half of that.
    """
    attempts = 0
    under_way: dict[Future[Outcome], Claim] = {}
    with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="webhook") as pool:
        while True:
            if not is_stopping():
                under_way |= {pool.submit(send, each): each for each in claimed(under_way.values())}
            if not under_way:
                return attempts
            if wait(under_way, timeout=POLL_S, return_when=FIRST_COMPLETED).done:
                wait(under_way, timeout=GATHER_S)
            ended = wait(under_way, timeout=0).done
            under_way = {future: each for future, each in under_way.items() if future not in ended}
            write_down([future.result() for future in ended])
            attempts += len(ended)


def claimed(under_way: Collection[Claim]) -> list[Claim]:
    """Claim for the free places; nothing while the database is away and outcomes of attempts under way are to come."""
    slow = sum(bool(each.endpoint.is_slow) for each in under_way)
    try:
        return claim(CONCURRENCY - len(under_way), slow_limit=(CONCURRENCY + 1) // 2 - slow)
    except UNREACHABLE:
        if not under_way:
            raise
        connection.close()
        return []


def write_down(outcomes: list[Outcome]) -> None:
    """Record outcomes; while the database is away, try again for as long as one of them holds its lease."""
    while True:
        try:
            return record(outcomes)
        except UNREACHABLE as error:
            connection.close()
            if all(clock.upper_bound_now() > each.claim.leased_until for each in outcomes):
                raise
            logger.warning("webhook outcomes wait for the database", extra={"reason": type(error).__name__})
            sleep(POLL_S)


def record(outcomes: Iterable[Outcome]) -> None:
    """Record outcomes in one transaction; one whose lease was lost meanwhile changes nothing."""
    by_lease = {(each.claim.delivery.id, each.claim.leased_until): each for each in outcomes}
    if not by_lease:
        return
    with transaction.atomic():
        now = clock.now()
        ids = [row_id for row_id, _ in by_lease]
        # In order, so that nobody deadlocks, with those that `release_next` writes to.
        with in_index_order():
            concerned = [*ids, *following(ids).values_list("next", flat=True)]
        rows = not_over().filter(id__in=concerned).order_by("id").select_for_update()
        ended = {row: by_lease[lease] for row in rows if (lease := (row.id, row.leased_until)) in by_lease}
        for row, outcome in ended.items():
            end_attempt(row, outcome, now)
        bulk.save(list(ended), ATTEMPT_FIELDS)
        own = list(ended.values())
        release_next(own, now)
        record_health(at_current_urls([each for each in own if not each.is_ours]), now)
    for outcome in own:
        ATTEMPTS.labels(outcome.reason or DELIVERED).observe(outcome.duration_s)
        if outcome.reason:
            facts = {"endpoint": outcome.claim.endpoint.id, "message_id": outcome.claim.delivery.event_id}
            facts |= {"reason": outcome.reason, "http_status": str(outcome.status or "")}
            level = logging.ERROR if outcome.is_ours else logging.WARNING
            logger.log(level, "webhook not delivered", extra=facts)


def end_attempt(row: WebhookDelivery, outcome: Outcome, now: datetime) -> None:
    """Set the new state of an attempt's row: delivered, to be tried again, or a dead letter."""
    row.attempts += not outcome.is_ours
    row.state = DeliveryState.DELIVERED
    if outcome.reason:
        pause = compressed(RECOVERY_SPACING) if outcome.is_ours else pause_after(row.attempts)
        row.state = DeliveryState.QUEUED if pause else DeliveryState.DEAD
        row.due_at = now + pause if pause else now
    row.leased_until, row.last_attempt_at = None, now
    row.last_status, row.last_reason = outcome.status, outcome.reason
    row.last_duration_ms = round(outcome.duration_s * 1000)


def release_next(outcomes: Iterable[Outcome], now: datetime) -> None:
    """Make the next row of each finished subject due: `claims` may have deferred it.

    If it was tried before the finished one was replayed, this attempt is beyond the schedule's.
    """
    over = following([each.claim.delivery.id for each in outcomes]).exclude(state=DeliveryState.QUEUED)
    with in_index_order():
        not_over().filter(id__in=over.values("next")).update(due_at=now, attempts=ONE_ATTEMPT_LESS)


def following(ids: Iterable[int]) -> Any:
    """Annotate rows with the `next` one of their endpoint and subject."""
    behind = queued().filter(endpoint=OuterRef("endpoint"), subject=OuterRef("subject"), id__gt=OuterRef("id"))
    rows = WebhookDelivery.objects.filter(id__in=ids).order_by()
    return rows.annotate(next=Subquery(behind.order_by("id").values("id")[:1]))


def at_current_urls(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Leave out attempts at a URL that was replaced meanwhile: they say nothing of the endpoint, and are repeated.

    Endpoints with a failure are locked, in order, so that none is replaced, and then disabled for what the old one did.
    """
    asked = WebhookEndpoint.objects.filter(id__in={each.claim.endpoint.id for each in outcomes})
    failed = asked.filter(id__in={each.claim.endpoint.id for each in outcomes if each.reason})
    list(failed.order_by("id").select_for_update(no_key=True).values_list("id"))
    urls = dict(asked.values_list("id", "url"))
    current = [each for each in outcomes if each.claim.endpoint.url == urls[each.claim.endpoint.id]]
    outdated = [each.claim for each in outcomes if each not in current]
    WebhookDelivery.objects.filter(id__in=[each.delivery.id for each in outdated], state=DeliveryState.DEAD).replay()
    for endpoint_id in sorted({each.endpoint.id for each in outdated}):
        endpoints.make_due(endpoint_id)
    return current


def record_health(outcomes: Sequence[Outcome], now: datetime) -> None:
    """Note which endpoints work; disable those that are gone, or that have failed for too long."""
    working = {each.claim.endpoint.id for each in outcomes if not each.reason}
    gone = {each.claim.endpoint.id for each in outcomes if each.status == GONE}
    ids = {each.claim.endpoint.id for each in outcomes}
    # One quick answer is enough: a busy host delays some of any endpoint's.
    slow = ids - {each.claim.endpoint.id for each in outcomes if each.duration_s <= SLOW_S}
    failed_all_since = now - compressed(endpoints.DISABLED_AFTER)
    # In order, so that two processes do not deadlock.
    for row in WebhookEndpoint.objects.filter(id__in=ids).only("failing_since", "is_slow").order_by("id"):
        if row.is_slow is not (row.id in slow):
            WebhookEndpoint.objects.filter(id=row.id).update(is_slow=row.id in slow)
        if (row.failing_since is None) != (row.id in working):
            WebhookEndpoint.objects.filter(id=row.id).update(failing_since=None if row.id in working else now)
            if row.id in working:
                endpoints.make_due(row.id, spacing=compressed(RECOVERY_SPACING))
        if row.id in gone:
            endpoints.disable(row.id, f"it answered {GONE}")
        elif row.id not in working and row.failing_since and row.failing_since < failed_all_since:
            endpoints.disable(row.id, f"nothing but failures for {endpoints.DISABLED_AFTER.days} days")
