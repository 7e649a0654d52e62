"""Writes down how attempts ended: delivered, to be tried again, or a dead letter; and disables endpoints."""

import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import F

from shops.db import clock
from shops.webhooks import endpoints
from shops.webhooks.metrics import ATTEMPTS, DELIVERED
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from shops.webhooks.retries import DISABLED_AFTER, compressed, pause_after
from shops.webhooks.sending import GONE, Outcome

queued = WebhookDelivery.objects.queued
logger = logging.getLogger("webhooks.delivery")


def record(outcomes: Iterable[Outcome]) -> None:
    """Write outcomes down in one transaction; one whose lease was lost meanwhile changes nothing."""
    # Endpoints are changed after all rows and in order, so that two processes do not deadlock.
    ordered = sorted(outcomes, key=lambda outcome: (outcome.claim.endpoint.id, outcome.claim.delivery.id))
    if not ordered:
        return
    with transaction.atomic():
        now = clock.now()
        own = [outcome for outcome in ordered if record_attempt(outcome, now)]
        for outcome in own:
            record_health(outcome, now)
    for outcome in own:
        announce(outcome)


def record_attempt(outcome: Outcome, now: datetime) -> bool:
    """Write an attempt into its row; False if another process has taken the row, or staff have ended it."""
    delivery = outcome.claim.delivery
    pause = pause_after(delivery.attempts + 1) if outcome.reason else None
    state = DeliveryState.DELIVERED
    if outcome.reason:
        state = DeliveryState.DEAD if pause is None else DeliveryState.QUEUED
    own = queued().filter(id=delivery.id, leased_until=outcome.claim.leased_until)
    is_own = own.update(
        state=state,
        attempts=F("attempts") + 1,
        next_attempt_at=now + pause if pause else now,
        leased_until=None,
        last_attempt_at=now,
        last_status=outcome.status,
        last_reason=outcome.reason,
        last_duration_ms=round(outcome.duration_s * 1000),
    )
    if is_own and state != DeliveryState.QUEUED:
        release_next(delivery, now)
    return bool(is_own)


def release_next(delivery: WebhookDelivery, now: datetime) -> None:
    """Make the next row of the subject due: `claims` may have put it off."""
    behind = queued().filter(endpoint=delivery.endpoint_id, subject=delivery.subject, id__gt=delivery.id)
    queued().filter(id__in=behind.order_by("id").values("id")[:1]).update(next_attempt_at=now)


def record_health(outcome: Outcome, now: datetime) -> None:
    """Note if the endpoint works; disable one that is gone, or that has failed for too long."""
    endpoint = outcome.claim.endpoint
    row = WebhookEndpoint.objects.filter(id=endpoint.id)
    if not outcome.reason:
        row.exclude(failing_since=None).update(failing_since=None)
        return
    row.filter(failing_since=None).update(failing_since=now)
    if outcome.status == GONE:
        endpoints.disable(endpoint.id, f"it answered {GONE}")
    elif row.filter(failing_since__lt=now - compressed(DISABLED_AFTER)).exists():
        endpoints.disable(endpoint.id, f"nothing but failures for {DISABLED_AFTER.days} days")


def announce(outcome: Outcome) -> None:
    ATTEMPTS.labels(outcome.reason or DELIVERED).observe(outcome.duration_s)
    if outcome.reason:
        facts = {"endpoint": outcome.claim.endpoint.id, "message_id": outcome.claim.delivery.message_id}
        facts |= {"reason": outcome.reason, "http_status": str(outcome.status or "")}
        logger.warning("webhook not delivered", extra=facts)
