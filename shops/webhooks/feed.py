"""A shop's events in the order in which they were committed, for a shop that asks for them.

PostgreSQL numbers a transaction when it first writes, and transactions end in another order. So the order is that of
the transactions' ids, as far as all of them are over; what comes later is returned later, nothing is skipped. SQLite
has one writer, and all its events the id 0: there the rows' own order is that of the commits.
"""

from datetime import datetime, timedelta
from typing import Any, cast

from django.db.models import Q
from rest_framework import serializers

from shops.api.cursors import Place, place_of, signed
from shops.api.errors.coded import EVENTS_GONE
from shops.api.errors.exceptions import ApiError
from shops.db import clock, querysets
from shops.webhooks.models import TransactionId, WebhookEvent, WebhookEventQuerySet

NOW = "now"
EVENTS_KEPT = timedelta(days=30)
# Retention runs once a day.
REMOVED_WITHIN = timedelta(days=2)
# Who begins gets the oldest events, which are too old for a place while the first pages are read.
READ_WITHIN = timedelta(hours=1)
UNREADABLE = "is no `next` of an answer to this shop. Send one unchanged, or `now`, or leave it out to begin."


class FirstRunning(TransactionId):
    """The id from which transactions may be under way."""

    function = "1"
    on_postgresql = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


class FirstToCome(FirstRunning):
    """The id from which transactions have not begun: a row that has one is of a database that was restored from."""

    on_postgresql = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint"


def answer(*, shop_id: str, after: Place | None, limit: int, **of_type: str) -> dict[str, Any]:
    """Return the body with the events after a place: all kept after an empty one, none after None; raise ApiError."""
    rows = WebhookEvent.objects.for_shop(shop_id)
    last = last_of(rows)
    behind = Q() if after is None else start(rows, after)
    found: list[WebhookEvent] = []
    if after is not None and last is not None:
        until = Q(transaction_id__lt=last.transaction_id) | Q(id__lte=last.id)
        wanted = rows.filter(behind, until, transaction_id__lte=last.transaction_id, **of_type)
        found = list(wanted.order_by("transaction_id", "id")[: limit + 1])
    shown, has_more = found[:limit], len(found) > limit
    place = [shown[-1].message_id, *[shown[-1].created_at.isoformat()] * 2] if has_more else end(last)
    data = [{"id": each.message_id, **each.body} for each in shown]
    return {"data": data, "next": signed(place, scope_of(shop_id)), "hasMore": has_more}


def last_of(rows: WebhookEventQuerySet) -> WebhookEvent | None:
    """Return the last event before which none can be committed any more."""
    is_readable = Q(transaction_id__lt=FirstRunning()) | Q(transaction_id__gte=FirstToCome())
    readable = rows.filter(is_readable).annotate(first_to_come=FirstToCome())
    found: Any = readable.order_by("-transaction_id", "-id").first()
    if found and 0 < found.first_to_come <= found.transaction_id:
        forget_transactions(rows)
        return last_of(rows)
    return cast("WebhookEvent | None", found)


def forget_transactions(rows: WebhookEventQuerySet) -> None:
    """Put the events of a restored database before all others; their own order is that of their rows."""
    rows.filter(transaction_id__gte=FirstToCome()).update(transaction_id=0)


def end(last: WebhookEvent | None) -> Place:
    """Return the place behind the last event: its id, its time, and the time until which nothing is missing."""
    now = clock.now().isoformat()
    return [last.message_id, last.created_at.isoformat(), now] if last else ["", now, now]


def scope_of(shop_id: str) -> str:
    return f"events:{shop_id}"


def checked_place(after: str, shop_id: str) -> Place:
    """Read a place in the shop's events, as `end` makes it; raise ValidationError."""
    try:
        message_id, created_at, complete_until = place_of(after, scope_of(shop_id), good_for=None)
    except (serializers.ValidationError, ValueError):
        raise serializers.ValidationError(UNREADABLE) from None
    return message_id, created_at, complete_until


def start(rows: WebhookEventQuerySet, after: Place) -> Q:
    """Return the condition of the events behind a place; raise where some of them may be gone.

    The event itself is gone by its age, or because the database was restored to a moment before it.
    """
    if not after:
        return Q(created_at__gte=clock.now() - EVENTS_KEPT)
    message_id, created_at, complete_until = after
    kept_since = clock.now() - EVENTS_KEPT
    place = rows.filter(message_id=message_id).first()
    is_lost = not place and bool(message_id) and datetime.fromisoformat(created_at) > kept_since + REMOVED_WITHIN
    if is_lost or datetime.fromisoformat(complete_until) < kept_since - READ_WITHIN:
        raise ApiError(EVENTS_GONE)
    return querysets.after(vars(place), ("transaction_id", "id")) if place else Q()
