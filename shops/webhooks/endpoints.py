"""Makes, rotates, tests, enables and revokes webhook endpoints."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext

from shops.db import clock
from shops.db.bulk import batches
from shops.models import Shop
from shops.webhooks import outbox, signing
from shops.webhooks.event_types import DISABLED, TEST
from shops.webhooks.models import ONE_ATTEMPT_LESS, DeliveryState, WebhookDelivery, WebhookEndpoint, new_message_id
from shops.webhooks.retries import SCHEDULE, compressed

MAX_ENDPOINTS = 10
# Nothing but failures for as long disable an endpoint; so does a 410.
DISABLED_AFTER = timedelta(days=5)
# Each secret before a rotation signs as well for as long, so that a receiver can change over.
ROTATION_OVERLAP = timedelta(hours=24)
REVOKED, ACTIVE, PAUSED = "revoked", "active", "paused"
logger = logging.getLogger("webhooks.endpoints")


class LimitError(ValueError):
    """The shop has all the endpoints that it may have; the text is for staff."""


def lock_room(shop: Shop) -> None:
    """Lock the shop until the transaction ends, so that two requests at once keep the limit; raise LimitError."""
    Shop.objects.select_for_update(no_key=True).get(id=shop.id)
    if WebhookEndpoint.objects.for_shop(shop.id).not_revoked().count() >= MAX_ENDPOINTS:
        text = gettext("a shop has at most {count} endpoints: revoke one first")
        raise LimitError(text.format(count=MAX_ENDPOINTS))


def create(*, shop: Shop, url: str, event_types: Sequence[str] = ()) -> tuple[WebhookEndpoint, str]:
    """Make an endpoint of a URL and types that were checked; return it with its secret. Raise LimitError."""
    secret = signing.new_secret()
    with transaction.atomic():
        lock_room(shop)
        endpoint = WebhookEndpoint(shop=shop, url=url, event_types=list(event_types))
        endpoint.set_secret(secret)
        endpoint.save(force_insert=True)
    return endpoint, secret


def change(endpoint: WebhookEndpoint, *, status: str = "", **values: Any) -> None:
    """Change a checked `url` or `event_types`; `active` enables or resumes. With it or a URL, what waits is due."""
    has_url = "url" in values
    if has_url and values["url"] != endpoint.url:
        values |= {"failing_since": None, "is_slow": None}  # nothing is known of it yet
    if "event_types" in values:
        values["event_types"] = values["event_types"] or []
    if status:
        values["is_paused"] = status == PAUSED
    if values:
        WebhookEndpoint.objects.filter(id=endpoint.id).update(**values)
    if status == ACTIVE:
        enable(endpoint)
    if has_url or status == ACTIVE:
        make_due(endpoint.id)


def rotate(endpoint: WebhookEndpoint) -> str:
    """Give the endpoint a new secret and return it; each one before signs too for ROTATION_OVERLAP."""
    secret = signing.new_secret()
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update(no_key=True).get(id=endpoint.id)
        row.rotate_secret(secret, now=clock.now(), overlap=ROTATION_OVERLAP)
        row.save(update_fields=["encrypted_secrets", "previous_until"])
    return secret


def revoke(endpoint: WebhookEndpoint) -> bool:
    """End an endpoint, in two transactions, as deliveries are locked first; False if it was revoked before."""
    is_revoked = WebhookEndpoint.objects.filter(id=endpoint.id, revoked_at=None).update(revoked_at=Now())
    end_deliveries()
    return bool(is_revoked)


def end_deliveries() -> None:
    """End what is queued for revoked endpoints, also by a transaction that had read one before."""
    queued = WebhookDelivery.objects.queued().filter(endpoint__revoked_at__isnull=False)
    queued.update_in_order(state=DeliveryState.DEAD, leased_until=None, last_reason=REVOKED)


def disable(endpoint_id: str, reason: str) -> None:
    """Stop deliveries until the endpoint is enabled again, and notify the others; its events are kept."""
    working = WebhookEndpoint.objects.filter(id=endpoint_id, disabled_at=None, revoked_at=None)
    with transaction.atomic():
        if not working.update(disabled_at=Now(), disabled_reason=reason):
            return
        shop_id = WebhookEndpoint.objects.values_list("shop", flat=True).get(id=endpoint_id)
        others = [row for row in outbox.ENDPOINTS.rows(shop=shop_id) if row[0] != endpoint_id]
        event = outbox.Event(DISABLED, endpoint_id, {"endpointId": endpoint_id, "reason": reason})
        outbox.emit_all(shop_id, [event], others)
    logger.error("webhook endpoint disabled", extra={"endpoint": endpoint_id, "reason": reason})


def enable(endpoint: WebhookEndpoint) -> None:
    """Deliver to a disabled endpoint again, beginning with what was kept meanwhile."""
    disabled = WebhookEndpoint.objects.filter(id=endpoint.id).exclude(disabled_at=None)
    if disabled.update(disabled_at=None, disabled_reason="", failing_since=None):
        make_due(endpoint.id)


def make_due(endpoint_id: str, *, spacing: timedelta = timedelta(0)) -> None:
    """Make what waits for another attempt due now or, if it was tried within `spacing`, after that.

    This attempt is beyond the schedule's. Where there is a `spacing`, it may be granted again and again, so an event
    that is older than the schedule is left to the schedule, and ends.
    """
    now = clock.now()
    waiting = WebhookDelivery.objects.queued().filter(endpoint=endpoint_id)
    if spacing:
        waiting = waiting.filter(created_at__gt=now - compressed(SCHEDULE))
    is_recent = Q(last_attempt_at__gt=now - spacing)
    for rows, due_at in ((waiting.exclude(is_recent), now), (waiting.filter(is_recent), now + spacing)):
        with transaction.atomic():
            # None of them is under way: what is leased was due when it was claimed.
            later = rows.filter(due_at__gt=due_at).select_for_update(skip_locked=True)
            for ids in batches(list(later.values_list("id", flat=True))):
                WebhookDelivery.objects.filter(id__in=ids).update(due_at=due_at, attempts=ONE_ATTEMPT_LESS)


def send_test(endpoint: WebhookEndpoint) -> str:
    """Queue a `webhook.test` for the endpoint; return the event's id."""
    message_id = new_message_id()  # its subject too: a test waits for no other one
    event = outbox.Event(TEST, message_id, {"endpointId": endpoint.id}, message_id)
    with transaction.atomic():
        outbox.write(endpoint.shop_id, [event], [(endpoint.id, ())])  # whatever it asked for
    return message_id
